import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedTurn } from '../../src/actors/shared-turn.ts';
import { Semaphore } from '../../src/lib/semaphore.ts';
import { until } from '../support/until.ts';

/** A partition in a line; `waitMs` is how long its next rebuild is not ready, null without one. */
function partitionIn(line: Semaphore, first: number | null = 0) {
  const state = { waitMs: first, came: 0 };
  const turn = new SharedTurn(
    line,
    () => state.waitMs,
    () => {
      state.came += 1;
    },
  );
  return { state, turn };
}

test('partitions of a worker have their turns one after the other', async () => {
  const line = new Semaphore(1);
  const [a, b] = [partitionIn(line), partitionIn(line)];
  a.turn.await();
  b.turn.await();
  await until('the first has its turn', () => a.turn.hasCome && a.state.came === 1);
  assert.equal(b.turn.hasCome, false);
  a.turn.over();
  assert.equal(a.turn.hasCome, false);
  await until('the second has its turn', () => b.turn.hasCome && b.state.came === 1);
});

test('a partition without a rebuild has no place in the line until it is woken', async () => {
  const line = new Semaphore(1);
  const [idle, other] = [partitionIn(line, null), partitionIn(line)];
  idle.turn.await();
  other.turn.await();
  await until('the other has its turn', () => other.turn.hasCome);
  other.turn.over();
  idle.state.waitMs = 0;
  idle.turn.wake();
  await until('it has its turn', () => idle.turn.hasCome);
});

test('a rebuild that rests is asked for when its rest is over', async () => {
  const { state, turn } = partitionIn(new Semaphore(1), 1);
  turn.await();
  state.waitMs = 0;
  await until('its turn comes', () => turn.hasCome);
});

test('a partition that has ended holds up nobody, wherever it was', async () => {
  const line = new Semaphore(1);
  const [working, waiting, idle] = [partitionIn(line), partitionIn(line), partitionIn(line, null)];
  working.turn.await();
  await until('the first has its turn', () => working.turn.hasCome);
  waiting.turn.await();
  idle.turn.await();
  idle.turn.end();
  waiting.turn.end();
  working.turn.end();
  const release = await line.acquire();
  release();
  assert.equal(idle.turn.hasCome, false);
});
