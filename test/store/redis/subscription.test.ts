import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Subscription } from '../../../src/store/redis/subscription.ts';
import { openStore } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();

/** How long a connection may be dead before it is replaced, by the contract. */
const recoveredMs = 15_000;

test('subscription: receives messages again after its connection broke, and after it became silent', async (context) => {
  const wire = await SlowRedis.start(() => redis.port);
  const near = await redis.openStore(1);
  const far = await openStore({ address: { kind: 'single', url: wire.url }, partitionCount: 1 });
  const received: string[] = [];
  let lost = 0;
  const subscription = new Subscription(far, 'news', {
    message: (text) => received.push(text),
    lost: () => {
      lost += 1;
    },
  });
  context.after(async () => {
    subscription.close();
    await far.close();
    await wire.stop();
  });
  const hears = async (text: string) => {
    await until(
      `${text} is received`,
      async () => {
        await near.client.publish('news', text);
        return received.includes(text);
      },
      recoveredMs,
    );
  };
  await hears('first');
  wire.breakAll();
  await hears('after a break');
  assert.ok(lost > 0);
  // The sockets stay open but nothing arrives, as behind a router that has lost its state.
  wire.forgetAll();
  await hears('after a silence');
  wire.stall();
  await sleep(3_000);
  wire.resume();
  await hears('after a stall');
});

test('subscription: once closed, it does not reconnect', async () => {
  const store = await redis.openStore(1);
  const received: string[] = [];
  const subscription = new Subscription(store, 'news', { message: (text) => received.push(text) });
  await until('it is subscribed', async () => (await store.client.publish('news', 'a')) === 1);
  subscription.renew();
  subscription.close();
  await until('nobody listens', async () => (await store.client.publish('news', 'b')) === 0);
  await sleep(300);
  assert.equal(await store.client.publish('news', 'c'), 0);
  assert.ok(!received.includes('c'));
});
