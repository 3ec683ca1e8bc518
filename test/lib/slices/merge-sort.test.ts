import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runSync, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { sorted } from '../../../src/lib/slices/merge-sort.ts';
import { runs } from '../../support/runs.ts';

test('merge sort: equals the built-in stable sort', () => {
  const item = fc.record({ key: fc.nat(9), name: fc.nat() });
  const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
  fc.assert(
    fc.property(fc.array(item, { maxLength: 3000, size: 'max' }), (items) => {
      assert.deepEqual(runSync(sorted(items, compare)), items.toSorted(compare));
    }),
    { numRuns: runs(20) },
  );
});

test('merge sort: yields while it sorts many items', () => {
  const { clock } = workBudget;
  workBudget.clock = () => true;
  const steps = sorted(
    Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 100_003),
    (a, b) => a - b,
  );
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  workBudget.clock = clock;
  assert.ok(pauses > 100, `${pauses} pauses`);
});
