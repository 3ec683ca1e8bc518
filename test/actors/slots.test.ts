import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from '../../src/actors/slots.ts';

test('so many at a time, in the order asked', async () => {
  const slots = new Slots(2);
  const order: number[] = [];
  let busy = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (number) => {
      const release = await slots.take();
      busy += 1;
      assert.ok(busy <= 2);
      order.push(number);
      await new Promise((resolve) => setImmediate(resolve));
      busy -= 1;
      release();
      release();
    }),
  );
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
});

test('a slot that is held for too long is given on, and giving it back later changes nothing', async () => {
  const slots = new Slots(1, 1);
  const release = await slots.take();
  const next = await slots.take();
  release();
  let isTaken = false;
  const third = slots.take().then((end) => {
    isTaken = true;
    return end;
  });
  next();
  (await third)();
  assert.ok(isTaken);
});
