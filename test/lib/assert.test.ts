import { ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { assert, InvariantError } from '../../src/lib/assert.ts';

test('assert: a broken invariant is an error of its own kind', () => {
  throws(() => assert(false, 'the epoch only grows'), new InvariantError('the epoch only grows'));
  ok(!(new InvariantError('') instanceof TypeError));
  assert(true, 'nothing is wrong');
});
