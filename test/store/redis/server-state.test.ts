import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { forgetfulPolicy, oldVersion, UnfitRedisError } from '../../../src/store/redis/server-state.ts';
import { openStore } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

test('server check: a Redis below 7 is too old, and Valkey is checked by its own version', () => {
  const info = (...lines: string[]) => ['# Server', ...lines, 'redis_mode:standalone', ''].join('\r\n');
  for (const version of ['7.0.0', '7.2.4', '8.0.1', '10.1.0', '255.255.255']) {
    assert.equal(oldVersion(info(`redis_version:${version}`)), null);
  }
  const valkey = info('redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.1.0');
  assert.equal(oldVersion(valkey), null);
  assert.match(
    oldVersion(info('redis_version:6.2.14')) ?? '',
    /^is Redis 6\.2\.14, .*needs Redis 7\.0 or newer/,
  );
  assert.match(oldVersion(info('redis_version:2.8.24')) ?? '', /^is Redis 2\.8\.24, /);
  assert.match(oldVersion(info()) ?? '', /unknown version/);
});

test('server check: an eviction policy is refused if there is a memory limit, and ignored if there is none', () => {
  const info = (bytes: number, policy: string) =>
    `# Memory\r\nmaxmemory:${bytes}\r\nmaxmemory_human:x\r\nmaxmemory_policy:${policy}\r\n`;
  assert.equal(forgetfulPolicy(info(0, 'allkeys-lru')), null);
  assert.equal(forgetfulPolicy(info(1_000, 'noeviction')), null);
  assert.match(
    forgetfulPolicy(info(1_000, 'volatile-ttl')) ?? '',
    /maxmemory of 1000 bytes .*policy volatile-ttl.*noeviction/,
  );
});

test('server check: a store is not opened on a Redis that would evict data', async (context) => {
  const data = await TestRedis.open();
  context.after(() => data.stop());
  const open = async () => {
    const store = await openStore({
      address: { kind: 'single', url: data.url },
      partitionCount: 2,
    });
    await store.close();
  };
  const set = async (name: string, value: string) => {
    const client = new Redis(data.url);
    await client.config('SET', name, value);
    client.disconnect();
  };
  await set('maxmemory-policy', 'allkeys-lfu');
  await open();
  await set('maxmemory', '100mb');
  await assert.rejects(open(), (error: Error) => {
    assert.ok(error instanceof UnfitRedisError);
    assert.match(error.message, /the Redis of REDIS_URL has .*104857600.*allkeys-lfu/);
    return true;
  });
  await set('maxmemory-policy', 'noeviction');
  await open();
});
