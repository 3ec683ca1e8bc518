import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { KeptOrder, type SortedDocs, scansPerSort } from '../../../src/search/sort/sorted-docs.ts';

const everything = { low: -Infinity, high: Infinity };
const all = { isDescending: false, limit: Number.POSITIVE_INFINITY, after: null };

/** Number of scans before there is a sorted order, and the order. */
function untilSorted(order: KeptOrder, values: Float64Array): { scans: number; docs: SortedDocs } {
  for (let scans = 0; ; scans += 1) {
    const docs = runSync(order.asked(values));
    if (docs !== null) return { scans, docs };
  }
}

test('sorted docs: docs are sorted once scans have cost as much, and stay sorted', () => {
  const order = new KeptOrder();
  const values = Float64Array.of(3, Number.NaN, 1, 2);
  const { scans, docs } = untilSorted(order, values);
  assert.equal(scans, scansPerSort);
  assert.deepEqual([...runSync(docs.first(values, everything, all)).docs], [2, 3, 0]);
  assert.equal(untilSorted(order, values).scans, 0);
  assert.equal(order.bytes, 3 * 4);
});

test('sorted docs: an order worn by many changes is dropped, and queries scan again', () => {
  const order = new KeptOrder();
  const values = Float64Array.from({ length: 10_000 }, (_, at) => at);
  untilSorted(order, values);
  const move = (doc: number): void => {
    order.move(doc, values[doc] ?? Number.NaN);
    values[doc] = -doc;
  };
  for (let doc = 0; doc < 200; doc += 1) move(doc);
  assert.equal(untilSorted(order, values).scans, 0, 'a few changes are recorded beside it');
  for (let doc = 200; doc < 400; doc += 1) move(doc);
  assert.equal(order.bytes, 0);
  const { scans, docs } = untilSorted(order, values);
  assert.equal(scans, scansPerSort);
  assert.deepEqual([...runSync(docs.first(values, { low: -399, high: -398 }, all)).docs], [399, 398]);
});

test('sorted docs: an order is sorted in steps; an abandoned sort is restarted', () => {
  const order = new KeptOrder();
  const values = Float64Array.from({ length: 100_000 }, (_, at) => (at * 7_919) % 100_003);
  for (let scan = 0; scan < scansPerSort; scan += 1) assert.equal(runSync(order.asked(values)), null);
  const { clock } = workBudget;
  workBudget.clock = () => true;
  const left = order.asked(values);
  left.next();
  left.return(null);
  const steps = order.asked(values);
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  workBudget.clock = clock;
  assert.ok(pauses > 100, `${pauses} pauses`);
  assert.equal(untilSorted(order, values).scans, 0);
});
