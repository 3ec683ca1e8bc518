import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedRebuilds } from '../../../src/actors/rebuild/refused-rebuilds.ts';
import { formatDependent } from '../../../src/store/derived/dependents.ts';

function refusedOf(number: number, name = 'page', retryInMs = 1_000) {
  const dependent = formatDependent({
    kind: 'view',
    environmentId: 'e',
    name,
    sourceId: 's',
    originId: `o${number}`,
  });
  return { tenant: 'acme', dependent, retryInMs };
}

/** The clock moves to when something is to be tried. */
function nextTry(rebuilds: RefusedRebuilds, nowMs: number): { atMs: number; count: number } {
  const waitMs = rebuilds.readyInMs(nowMs);
  assert.ok(waitMs !== null);
  const atMs = nowMs + waitMs;
  return { atMs, count: rebuilds.take(atMs).length };
}

test('while a schema is refused, one of its outputs is tried whenever it may be run', () => {
  const rebuilds = new RefusedRebuilds();
  for (let number = 0; number < 1_000; number += 1) rebuilds.add(refusedOf(number), 0);
  const pauses: number[] = [];
  let nowMs = 0;
  for (const retryInMs of [4_000, 16_000, 60_000, 3_000]) {
    const { atMs, count } = nextTry(rebuilds, nowMs);
    assert.equal(count, 1);
    pauses.push(atMs - nowMs);
    nowMs = atMs;
    rebuilds.add(refusedOf(1, 'page', retryInMs), nowMs);
  }
  assert.deepEqual(pauses, [1_000, 4_000, 16_000, 60_000]);
});

test('once it is run again more and more are tried, until none waits', () => {
  const rebuilds = new RefusedRebuilds();
  for (let number = 0; number < 100; number += 1) rebuilds.add(refusedOf(number), 0);
  const counts: number[] = [];
  let nowMs = 0;
  while (rebuilds.readyInMs(nowMs) !== null) {
    const { atMs, count } = nextTry(rebuilds, nowMs);
    counts.push(count);
    nowMs = atMs;
  }
  assert.deepEqual(counts, [1, 4, 16, 64, 15]);
});

test('each schema is tried for itself', () => {
  const rebuilds = new RefusedRebuilds();
  rebuilds.add(refusedOf(1, 'page'), 0);
  rebuilds.add(refusedOf(2, 'list'), 500);
  assert.equal(rebuilds.take(999).length, 0);
  assert.deepEqual(rebuilds.take(1_000), [refusedOf(1, 'page')]);
  assert.deepEqual(rebuilds.take(1_500), [refusedOf(2, 'list')]);
  assert.equal(rebuilds.readyInMs(2_000), null);
});
