import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { OutageWatch } from '../../../src/store/redis/outages.ts';
import { openStore } from '../../../src/store/store.ts';
import { FaultyRedis } from '../../support/faulty-redis.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start({ durable: true });

/** A monitor on a store behind a faulty connection, its reports, and work that constantly needs Redis. */
async function watched(context: TestContext) {
  const wire = await FaultyRedis.start(() => redis.port);
  const address = { kind: 'single', url: wire.url } as const;
  const store = await openStore({ address, partitionCount: 2, commandTimeoutMs: 300 });
  const reported: string[] = [];
  const watch = new OutageWatch(store, {
    lost: (name) => void reported.push(`lost ${name}`),
    back: (name) => void reported.push(`back ${name}`),
    replaced: (name) => void reported.push(`replaced ${name}`),
  });
  const work = setInterval(() => {
    for (let command = 0; command < 20; command += 1) store.client.ping().catch(() => {});
  }, 20);
  context.after(async () => {
    clearInterval(work);
    watch.close();
    await store.close();
    await wire.stop();
  });
  const name = `127.0.0.1:${wire.port}`;
  return { wire, reported, lost: `lost ${name}`, back: `back ${name}` };
}

/** Enough checks to detect a monitor that reports more than once. */
const outageMs = 6_000;

test('outages: a Redis that hangs is reported once, and once more when it replies again', async (context) => {
  const { wire, reported, lost, back } = await watched(context);
  for (let time = 1; time <= 2; time += 1) {
    const startedMs = performance.now();
    wire.stall();
    await until('it is lost', () => reported.length === 2 * time - 1);
    await until('it was away for long', () => performance.now() - startedMs > outageMs);
    wire.resume();
    await until('it is back', () => reported.length === 2 * time);
  }
  assert.deepEqual(reported, [lost, back, lost, back]);
});

test('outages: a Redis that is killed and loads its file is reported once, and once more when it replies again', async (context) => {
  const { reported, lost, back } = await watched(context);
  const startedMs = performance.now();
  await redis.killServer();
  await until('it is lost', () => reported.length === 1);
  await until('it was away for long', () => performance.now() - startedMs > outageMs);
  await redis.startServer();
  await until('it is back', () => reported.length === 2);
  assert.deepEqual(reported, [lost, back]);
});
