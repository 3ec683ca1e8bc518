import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeCover } from '../../../src/query/front/attempt.ts';

const reply = (workerId: string, ...covers: [number, number][]) => ({ workerId, covers: new Map(covers) });
const idsOf = (replies: { workerId: string }[] | null) => replies?.map(({ workerId }) => workerId) ?? null;

test('answer coverage: replies are complete once every partition is covered', () => {
  const a = reply('a', [0, 1], [2, 1]);
  const b = reply('b', [1, 4]);
  assert.equal(completeCover([a], 3), null);
  assert.deepEqual(idsOf(completeCover([a, b], 3)), ['a', 'b']);
});

test('answer coverage: a worker without partitions is ignored', () => {
  assert.deepEqual(idsOf(completeCover([reply('spare'), reply('a', [0, 1])], 1)), ['a']);
  assert.equal(completeCover([reply('spare')], 1), null);
  assert.equal(completeCover([], 1), null);
});

test('answer coverage: a worker that lost a lease without noticing is excluded completely', () => {
  const former = reply('former', [0, 1], [1, 1]);
  const owner = reply('owner', [0, 2], [1, 2]);
  assert.deepEqual(idsOf(completeCover([former, owner], 2)), ['owner']);
});

test('answer coverage: if the worker that lost a lease still owns another partition, coverage is incomplete', () => {
  const former = reply('former', [0, 1], [1, 1]);
  const owner = reply('owner', [0, 2]);
  assert.equal(completeCover([former, owner], 2), null);
});

test('answer coverage: two replies with the same partition and epoch are not a cover', () => {
  assert.equal(completeCover([reply('a', [0, 1]), reply('b', [0, 1])], 1), null);
});
