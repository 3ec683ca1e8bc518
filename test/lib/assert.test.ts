import { ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { assert, InvariantError } from '../../src/lib/assert.ts';

test('assert: a broken invariant is a separate kind of error', () => {
  throws(() => assert(false, 'the epoch only grows'), new InvariantError('the epoch only grows'));
  ok(!(new InvariantError('') instanceof TypeError));
  assert(true, 'nothing is wrong');
});
