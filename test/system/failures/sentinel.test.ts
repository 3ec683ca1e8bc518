/** Redis with three sentinels: after the primary is killed they promote the replica, and the platform follows. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { freePort } from '../../../src/cli/start/ports.ts';
import { redisAnswers } from '../../support/redis-answers.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { SystemProcess } from '../support/processes/process.ts';
import { RedisServer, tiedRedisServer } from '../support/processes/redis-server.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const name = 'main';
const files = siteFiles({
  schemas: {
    page: { triggers: { cms: ['page'] }, route: { url: '{url}' }, properties: { title: '{p.title}' } },
  },
});

async function startSentinel(folder: string, port: number, primary: number): Promise<SystemProcess> {
  const file = path.join(folder, `sentinel-${port}.conf`);
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${primary} 2`,
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 5000`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const sentinel = new SystemProcess('sentinel', () => ({
    program: 'sh',
    words: ['-c', tiedRedisServer, 'sentinel', 'redis-server', file, '--sentinel'],
    env: process.env,
  }));
  sentinel.start();
  await until('the sentinel answers', () => redisAnswers(`redis://127.0.0.1:${port}`));
  return sentinel;
}

/** Starts a replica and three sentinels, and waits until the sentinels know each other and the replica. */
async function watch(
  folder: string,
  ports: readonly number[],
  primary: number,
): Promise<{ stop(): Promise<unknown> }[]> {
  const replica = await RedisServer.start({ replicaOf: primary });
  const sentinels = await Promise.all(ports.map((port) => startSentinel(folder, port, primary)));
  for (const port of ports) {
    const client = new Redis(port, '127.0.0.1', { protocol: 2 });
    await until(
      'the sentinels know each other and the replica',
      async () => {
        const [facts] = (await client.call('SENTINEL', 'MASTERS')) as string[][];
        const of = (fact: string) => facts?.[facts.indexOf(fact) + 1];
        return of('num-other-sentinels') === '2' && of('num-slaves') === '1';
      },
      30_000,
    );
    client.disconnect();
  }
  return [replica, ...sentinels];
}

async function titleOf(client: Client): Promise<unknown> {
  return (await client.get('/v2?url=/one', { key: clientKey })).json.route?.title;
}

test('sentinels: the platform continues with the promoted Redis', oneRedisOnly, async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-sentinel-'));
  const ports = [await freePort('127.0.0.1'), await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  const watchers: { stop(): Promise<unknown> }[] = [];
  let system: System | null = null;
  context.after(async () => {
    await system?.stop();
    await Promise.all(watchers.map((watcher) => watcher.stop()));
    await rm(folder, { recursive: true, force: true });
  });
  system = await System.start({
    files,
    env: {
      REDIS_URL: '',
      REDIS_SENTINEL: ports.map((port) => `127.0.0.1:${port}`).join(','),
      REDIS_SENTINEL_NAME: name,
    },
    onRedis: async (port) => {
      watchers.push(...(await watch(folder, ports, port)));
    },
  });
  const client = system.client();
  const save = (title: string) =>
    client.post(
      '/ingest/v2/one',
      { type: 'page', url: '/one', properties: { title } },
      { key: sourceKey, headers: { 'X-Service-Wait': '5000' } },
    );
  assert.equal((await save('before')).headers['x-service-visible'], 'true');
  assert.equal(await titleOf(client), 'before');

  await system.redis.process.signal('SIGKILL');
  await until(
    'a save is visible again',
    async () => {
      const { status, headers } = await save('after');
      return status === 200 && headers['x-service-visible'] === 'true';
    },
    120_000,
  );
  assert.equal(await titleOf(client), 'after');
});
