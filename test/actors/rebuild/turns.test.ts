import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TurnQueue } from '../../../src/actors/rebuild/turns.ts';

test('turns come one at a time, in the order asked', async () => {
  const queue = new TurnQueue();
  const order: number[] = [];
  let busy = 0;
  await Promise.all(
    [0, 1, 2, 3, 4].map(async (number) => {
      const release = await queue.request();
      busy += 1;
      assert.equal(busy, 1);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(number);
      busy -= 1;
      release();
    }),
  );
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
});
