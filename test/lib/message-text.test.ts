import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excerpt, quote } from '../../src/lib/message-text.ts';

test('quote: a long text is truncated, but not within a character', () => {
  const smiles = '😀'.repeat(40);
  assert.equal(quote('a\n'), '"a\\n"');
  assert.equal(excerpt('abcd', 4), 'abcd');
  assert.equal(excerpt('abcde', 4), 'abcd…');
  assert.equal(excerpt('a😀b', 2), 'a…');
  for (const text of [smiles, `a${smiles}`]) assert.ok(excerpt(text).isWellFormed(), text);
});
