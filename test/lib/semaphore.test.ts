import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from '../../src/lib/semaphore.ts';

test('semaphore: grants a bounded number at a time, in the order of the requests', async () => {
  const slots = new Semaphore(2);
  const order: number[] = [];
  let busy = 0;
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (number) => {
      const release = await slots.acquire();
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

test('semaphore: a slot that is held for too long is passed on, and a late release changes nothing', async () => {
  const slots = new Semaphore(1, 1);
  const release = await slots.acquire();
  const next = await slots.acquire();
  release();
  let isTaken = false;
  const third = slots.acquire().then((end) => {
    isTaken = true;
    return end;
  });
  next();
  (await third)();
  assert.ok(isTaken);
});

test('semaphore: a large request takes several slots, an oversized one all of them, and nobody is overtaken', async () => {
  const slots = new Semaphore(4, 60_000);
  const order: string[] = [];
  const first = await slots.acquire(3);
  const enter = async (name: string, count: number): Promise<() => void> => {
    const release = await slots.acquire(count);
    order.push(name);
    return release;
  };
  const large = enter('large', 9);
  const small = enter('small', 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, [], 'the small one waits after the large one');
  first();
  const endLarge = await large;
  assert.deepEqual(order, ['large']);
  endLarge();
  (await small)();
  assert.deepEqual(order, ['large', 'small']);
});
