import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedTurn } from '../../src/actors/shared-turn.ts';
import { Semaphore } from '../../src/lib/semaphore.ts';
import { until } from '../support/until.ts';

/** A partition that shares the semaphore. `waitMs` is the time until its next rebuild is ready, null without one. */
function partitionOn(semaphore: Semaphore, first: number | null = 0) {
  const state = { waitMs: first, acquired: 0 };
  const turn = new SharedTurn(
    semaphore,
    () => state.waitMs,
    () => {
      state.acquired += 1;
    },
  );
  return { state, turn };
}

test('shared turn: partitions of a worker take turns', async () => {
  const semaphore = new Semaphore(1);
  const [a, b] = [partitionOn(semaphore), partitionOn(semaphore)];
  a.turn.request();
  b.turn.request();
  await until('the first has its turn', () => a.turn.isAcquired && a.state.acquired === 1);
  assert.equal(b.turn.isAcquired, false);
  a.turn.release();
  assert.equal(a.turn.isAcquired, false);
  await until('the second has its turn', () => b.turn.isAcquired && b.state.acquired === 1);
});

test('shared turn: a partition without work does not acquire until `wake`', async () => {
  const semaphore = new Semaphore(1);
  const [idle, other] = [partitionOn(semaphore, null), partitionOn(semaphore)];
  idle.turn.request();
  other.turn.request();
  await until('the other has its turn', () => other.turn.isAcquired);
  other.turn.release();
  idle.state.waitMs = 0;
  idle.turn.wake();
  await until('it has its turn', () => idle.turn.isAcquired);
});

test('shared turn: is acquired when its work becomes ready', async () => {
  const { state, turn } = partitionOn(new Semaphore(1), 1);
  turn.request();
  state.waitMs = 0;
  await until('it has its turn', () => turn.isAcquired);
});

test('shared turn: a closed partition does not block the others, in any state', async () => {
  const semaphore = new Semaphore(1);
  const [working, waiting, idle] = [
    partitionOn(semaphore),
    partitionOn(semaphore),
    partitionOn(semaphore, null),
  ];
  working.turn.request();
  await until('the first has its turn', () => working.turn.isAcquired);
  waiting.turn.request();
  idle.turn.request();
  idle.turn.close();
  waiting.turn.close();
  working.turn.close();
  const release = await semaphore.acquire();
  release();
  assert.equal(idle.turn.isAcquired, false);
});
