import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupHolders } from '../../../src/query/front/worker-list.ts';

function holdersOf(workers: Readonly<Record<string, readonly string[]>>): string[] | null {
  const listed = Object.entries(workers).map(([id, groups]) => ({ id, groups }));
  return groupHolders(listed)?.map((holders) => holders.map(({ id }) => id).join('')) ?? null;
}

test('worker list: without copies, and while a group has no holder, no worker answers for a group', () => {
  assert.equal(holdersOf({}), null);
  assert.equal(holdersOf({ a: [], b: [] }), null);
  assert.equal(holdersOf({ a: ['0/2'], b: ['0/2'] }), null);
  assert.equal(holdersOf({ a: ['no group'] }), null);
});

test('worker list: each group is answered by its holders', () => {
  assert.deepEqual(holdersOf({ a: ['0/1'], b: ['0/1'], c: [] }), ['ab']);
  assert.deepEqual(holdersOf({ a: ['0/2'], b: ['1/2'], c: ['1/2'] }), ['a', 'bc']);
});

test('worker list: while the groups change, requests use the division that most workers answer by', () => {
  assert.deepEqual(holdersOf({ a: ['0/1', '0/2'], b: ['0/1'], c: ['1/2'], d: [] }), ['ab']);
  assert.deepEqual(holdersOf({ a: ['0/1', '0/2'], b: ['0/2'], c: ['1/2'], d: ['1/2'] }), ['ab', 'cd']);
});
