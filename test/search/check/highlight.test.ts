import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { errorsOf, open, queryOf } from '../support/checks.ts';

const search = { field: 'text', value: 'a' };

test('highlights are of the searched fields or those named, between <em> and </em> unless said', () => {
  const usual = { before: '<em>', after: '</em>', length: null };
  assert.deepEqual(queryOf({ search, highlight: {} }).highlight, { fields: ['text'], ...usual });
  const asked = { fields: ['text[]', 'text', 'text[]'], before: '', after: ']', length: 20 };
  assert.deepEqual(queryOf({ search, highlight: asked }).highlight, { ...asked, fields: ['text[]', 'text'] });
  assert.equal(queryOf({ search, highlight: null }).highlight, null);
  const mark = '😀'.repeat(256);
  assert.equal(
    queryOf({ search, highlight: { before: mark } }).highlight?.before,
    mark,
    'counted in code points',
  );
  assert.equal(queryOf({ highlight: asked }).highlight, null, 'nothing is highlighted without a search');
  assert.deepEqual(queryOf({ search, highlight: { fields: ['other'] } }, open).highlight?.fields, ['other']);
});

test('each mistake of the highlights has its place', () => {
  const mistakes: [Json, ...RegExp[]][] = [
    [true, /^highlight: must be/],
    [{ fields: 'text' }, /^highlight.fields: must be an array/],
    [{ fields: ['text', 5] }, /^highlight.fields\[1\]: must be a string/],
    [
      { fields: ['nope', 'keyword'] },
      /^highlight.fields\[0\]: the index has no field/,
      /\[1\]: search needs a field/,
    ],
    [{ before: 1 }, /^highlight.before: must be a string/],
    [{ after: 'x'.repeat(257) }, /^highlight.after: has 257 characters/],
    ...[0, -1, 1.5, '20'].map((length): [Json, RegExp] => [
      { length },
      /^highlight.length: must be a whole number/,
    ]),
  ];
  for (const [highlight, ...expected] of mistakes) {
    const errors = errorsOf({ search, highlight });
    assert.equal(errors.length, expected.length, `${JSON.stringify(highlight)}: ${errors.join('; ')}`);
    for (const [at, pattern] of expected.entries()) assert.match(errors[at] ?? '', pattern);
  }
  assert.equal(errorsOf({ highlight: { length: 0 } }).length, 1, 'also without a search');
});
