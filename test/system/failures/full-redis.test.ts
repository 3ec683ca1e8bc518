/** Redis reaches `maxmemory` while the platform runs: existing content is still served, correct and deletable. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Redis } from 'ioredis';
import type { Json } from '../../../src/contract/json.ts';
import { readGenerations } from '../../../src/store/configuration/published-configuration.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { StoreFullError } from '../../../src/store/redis/redis-errors.ts';
import { article, assertTrue, categories, files } from '../../cluster/support/articles.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, sourceId, sourceKey } from '../support/site.ts';

/** Just below the maximum of one request. */
const articleCount = 45;
/** Articles saved while no worker runs. */
const waitingCount = 20;

function start(context: TestContext): Promise<System> {
  const started = System.start({
    web: 1,
    workers: 2,
    jobs: 1,
    partitions: 4,
    files: files(1),
    env: { LEASE_SECONDS: '2' },
  });
  context.after(() => started.then((system) => system.stop()));
  return started;
}

/** Sets the memory limit of Redis, far below the used memory: Redis is full immediately, and no delete frees enough. */
class Memory {
  private constructor(private readonly redis: Redis) {}

  static of(context: TestContext, system: System): Memory {
    const redis = new Redis(system.redis.url);
    context.after(() => redis.disconnect());
    return new Memory(redis);
  }

  async fill(): Promise<void> {
    await this.redis.config('SET', 'maxmemory-policy', 'noeviction');
    await this.redis.config('SET', 'maxmemory', '1mb');
    await assert.rejects(this.redis.set('more', 'x'), /^ReplyError: OOM/, 'it is full');
  }

  /** Whether all job locks have expired, because they could not be renewed. */
  async areJobsFree(): Promise<boolean> {
    return (await this.redis.keys('{millrace}:jobs:*:lock')).length === 0;
  }

  async raise(): Promise<void> {
    await this.redis.config('SET', 'maxmemory', '0');
  }
}

async function readyBody(client: Client): Promise<{ status: number; body: Json }> {
  const { status, json } = await client.get('/health/ready');
  return { status, body: json };
}

/** Waits until the front is ready and reports a full Redis as its only problem. */
async function untilFull(client: Client): Promise<void> {
  let last = '';
  await until(
    'the front serves pages although Redis is full',
    async () => {
      const answer = await readyBody(client);
      last = JSON.stringify(answer);
      return (
        answer.status === 200 &&
        /^\{"status":"degraded","degraded":\["[^"]*full[^"]*"\]\}$/.test(JSON.stringify(answer.body))
      );
    },
    30_000,
  ).catch((error: Error) => assert.fail(`${error.message}: ${last}`));
}

async function assertSavesAreRefused(client: Client): Promise<void> {
  const entity = { type: 'article', properties: { title: 'refused' } };
  const answers = [
    await client.post('/ingest/v2', [{ originId: 'refused', ...entity }], { key: sourceKey }),
    await client.post('/ingest/v2/a1', entity, { key: sourceKey }),
    await client.post(
      '/ingest/v2/refused',
      { type: 'another', properties: { unseen: 1 } },
      { key: sourceKey },
    ),
  ];
  for (const { status, headers, text } of answers) {
    assert.equal(status, 503, text);
    assert.ok(headers['retry-after']);
  }
}

test('full Redis: new saves and schemas fail, everything else continues', oneRedisOnly, async (context) => {
  const random = Random.forTest('full redis');
  const system = await start(context);
  const client = system.client();
  const memory = Memory.of(context, system);
  const store = await system.store();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  const all = Array.from({ length: articleCount }, (_, n) => article(random, n));
  assert.ok(await ledger.save(client, categories));
  assert.ok(await ledger.save(client, all));
  await waitUntilSettled(store);
  await until('nothing is degraded', async () => {
    const { body } = await readyBody(client);
    return JSON.stringify(body) === '{"status":200,"waitingFor":[]}';
  });

  // A worker that starts while Redis is full processes what was acknowledged before.
  await Promise.all(system.workers.map((worker) => system.kill(worker)));
  ledger.takeVersions();
  assert.ok(
    await ledger.save(
      client,
      Array.from({ length: waitingCount }, (_, n) => article(random, n)),
    ),
  );
  await memory.fill();
  await system.restart('worker.1');
  await untilFull(client);
  await untilVisible(client, clientKey, ledger.takeVersions());
  await waitUntilSettled(store);
  await assertTrue(system, client, ledger);
  await assertSavesAreRefused(client);

  // Deletes are accepted and processed.
  assert.ok(await ledger.delete(client, ['a3', 'a5', 'a44']));
  const one = await client.delete('/ingest/v2/a7', { key: sourceKey });
  assert.equal(one.status, 200, one.text);
  ledger.found('a7', null);
  await untilVisible(client, clientKey, ledger.takeVersions());
  await waitUntilSettled(store);
  await assertTrue(system, client, ledger);

  // Every process can start while Redis is full.
  await system.restart('worker.2');
  for (const name of ['web.1', 'jobs.1', 'worker.1']) {
    await system.kill(name);
    await system.restart(name);
  }
  await until(
    'the front is running again',
    () =>
      readyBody(client).then(
        () => true,
        () => false,
      ),
    30_000,
  );
  await untilFull(client);
  await assertTrue(system, client, ledger);
  await assertSavesAreRefused(client);
  await assert.rejects(system.publish(files(2)), StoreFullError);

  // Once memory is available, saves succeed without a restart.
  await memory.raise();
  assert.ok(await ledger.save(client, all));

  // A rebuild that was interrupted by a full Redis resumes.
  const generation = await system.publish(files(2));
  await until(
    'the jobs process is running',
    async () => (await readGenerations(store)).enqueued === generation,
  );
  await memory.fill();
  await untilFull(client);
  await until('no job is on hold', () => memory.areJobsFree());
  await memory.raise();
  await system.rebuilt(generation);
  await waitUntilSettled(store);
  assert.deepEqual(await readyBody(client), { status: 200, body: { status: 200, waitingFor: [] } });
  await assertTrue(system, client, ledger);
});
