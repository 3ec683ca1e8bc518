import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadWait } from '../../../src/http/operations/front-load.ts';
import { until } from '../../support/until.ts';

test('read wait: reads are measured while a client polls, as the average since the last poll', async (context) => {
  const turns: number[] = [];
  const wait = new ReadWait(async (turn) => {
    turns.push(turn);
    await sleep(30);
  });
  context.after(() => wait.close());
  assert.equal(wait.take(), null);
  wait.follow(false);
  assert.deepEqual(turns, [], 'nobody polls');
  wait.follow(true);
  wait.follow(true);
  await until('three reads are over', async () => turns.length > 3);
  const meanMs = wait.take();
  assert.ok(meanMs !== null && meanMs >= 29, `${meanMs}`);
  assert.deepEqual(turns.slice(0, 3), [0, 1, 2], 'of a different partition each time');
  wait.follow(false);
  await until('the last read is over', () => wait.take() === null);
  assert.equal(wait.take(), null, 'nobody polls any more');
});

test('read wait: a failed read is not counted, and a slow one is reported before it ends', async (context) => {
  const failing = new ReadWait(async () => {
    throw new Error('away');
  });
  let count = 0;
  const standing = new ReadWait(() => {
    count += 1;
    return new Promise(() => {});
  });
  failing.follow(true);
  standing.follow(true);
  context.after(() => {
    failing.close();
    standing.close();
  });
  await until('it has waited for long', async () => (standing.take() ?? 0) > 100);
  assert.equal(count, 1, 'one read, not one more for each tick');
  assert.equal(failing.take(), null);
});
