import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadWait } from '../../../src/http/operations/front-load.ts';
import { until } from '../../support/until.ts';

test('read wait: reads are measured while there are requests, as the mean since the last call', async (context) => {
  const turns: number[] = [];
  const wait = new ReadWait(async (turn) => {
    turns.push(turn);
    await sleep(30);
  });
  context.after(() => wait.close());
  assert.equal(wait.take(), null);
  wait.setActive(false);
  assert.deepEqual(turns, [], 'no requests');
  wait.setActive(true);
  wait.setActive(true);
  await until('three reads are over', async () => turns.length > 3);
  const meanMs = wait.take();
  assert.ok(meanMs !== null && meanMs >= 29, `${meanMs}`);
  assert.deepEqual(turns.slice(0, 3), [0, 1, 2], 'of a different partition each time');
  wait.setActive(false);
  await until('the last read is over', () => wait.take() === null);
  assert.equal(wait.take(), null, 'no more requests');
});

test('read wait: a failed read is not counted, and a hanging one is reported before it ends', async (context) => {
  const failing = new ReadWait(async () => {
    throw new Error('unreachable');
  });
  let count = 0;
  const hanging = new ReadWait(() => {
    count += 1;
    return new Promise(() => {});
  });
  failing.setActive(true);
  hanging.setActive(true);
  context.after(() => {
    failing.close();
    hanging.close();
  });
  await until('it has waited for long', async () => (hanging.take() ?? 0) > 100);
  assert.equal(count, 1, 'one read, not one more for each tick');
  assert.equal(failing.take(), null);
});
