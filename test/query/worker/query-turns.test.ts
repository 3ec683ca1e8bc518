import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryTurns } from '../../../src/query/worker/query-turns.ts';

const request = (tenant: string, number = 0, asksFurther = false) => ({ tenant, number, asksFurther });

test('query turns: tenants take turns, each with its oldest request first', () => {
  const turns = new QueryTurns();
  const [first, second, third] = [request('a', 1), request('a', 2), request('a', 3)];
  const other = request('b');
  for (const one of [first, second, third, other]) turns.add(one);
  const taken = [1, 2, 3, 4].map(() => turns.takeFresh());
  assert.deepEqual(taken, [first, other, second, third]);
  assert.equal(turns.takeFresh(), null);
  assert.ok(turns.isEmpty);
});

test('query turns: one paused request of a tenant keeps its work; the next starts when that has ended', () => {
  const turns = new QueryTurns();
  const [first, second] = [request('a', 1), request('a', 2)];
  assert.equal(turns.pause(first), true);
  assert.equal(turns.pause(second), false);
  assert.equal(turns.pause(first), true);
  assert.equal(turns.takeLong(), first);
  turns.end(first);
  assert.equal(turns.takeLong(), second);
  assert.ok(turns.isEmpty);
});

test('query turns: eight requests keep their work, and continue slice by slice in turn', () => {
  const turns = new QueryTurns();
  const requests = Array.from({ length: 9 }, (_, n) => request(`tenant-${n}`));
  assert.deepEqual(
    requests.map((one) => turns.pause(one)),
    requests.map((_, n) => n < 8),
  );
  const round = Array.from({ length: 8 }, () => turns.takeLong());
  assert.deepEqual(round, requests.slice(0, 8));
  turns.end(requests[0] ?? request('none'));
  assert.equal(turns.takeLong(), requests[8]);
});

test('query turns: of the restarted requests, those with a partly answered query are first', () => {
  const turns = new QueryTurns();
  const [kept, first, further] = [request('a', 1), request('a', 2), request('a', 3, true)];
  for (const one of [kept, first, further]) turns.pause(one);
  assert.equal(turns.takeLong(), kept);
  turns.end(kept);
  assert.equal(turns.takeLong(), further);
  assert.equal(turns.takeLong(), first);
});

test('query turns: abandoned requests are dropped, and all slow ones can be removed', () => {
  const turns = new QueryTurns();
  const [kept, gone, parked] = [request('a', 1), request('a', 2), request('a', 3)];
  for (const one of [kept, gone, parked]) turns.pause(one);
  turns.dropParked((one) => one === gone);
  assert.deepEqual(turns.takeAllLong(), [kept, parked]);
  assert.equal(turns.hasLong, false);
});
