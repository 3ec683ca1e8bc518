/** Tenants read under load while Redis is killed, hangs or has a full disk. Each value names its tenant and entity. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { type ConfigFiles, oneRedisOnly, System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, managementKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const tenants = ['acme', 'blue'] as const;
type Tenant = (typeof tenants)[number];
const pageCount = 300;
/** Pause of a reader after a rejected request, because requests without pauses take the processor time of what recovers. */
const restMs = 20;
/** Time within which each front and worker must recover once Redis responds again, by the contract. */
const recoveredMs = 15_000;

const files: ConfigFiles = Object.assign(
  {},
  ...tenants.map((tenant, number) =>
    siteFiles({
      tenant,
      keyPrefix: `${tenant}-`,
      schemas: {
        page: { triggers: { cms: ['page'] }, route: { url: '{url}' }, properties: { title: '{p.title}' } },
      },
      settings: settingsOf(tenant, number),
    }),
  ),
);

/** Ids must be unique across tenants. */
function settingsOf(tenant: Tenant, number: number) {
  const [environmentId, source] = [number, number].map(
    (digit, at) => `${digit}c9e667${at}-7425-40de-944b-e07fc1f90ae7`,
  );
  return {
    environments: [{ id: environmentId ?? '', alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [
          {
            id: source ?? '',
            name: 'CMS',
            environments: ['production'],
            apiKeys: [`${tenant}-${sourceKey}`],
          },
        ],
      },
    ],
    managementClients: [{ name: 'operator', apiKeys: [`${tenant}-${managementKey}`] }],
  };
}

const titleOf = (tenant: Tenant, number: number) => `${tenant} p${number}`;

async function fill(system: System): Promise<void> {
  for (const tenant of tenants) {
    const ledger = new Ledger({ key: `${tenant}-${sourceKey}`, sourceId });
    const pages = Array.from({ length: pageCount }, (_, number) =>
      entityOf(`p${number}`, 'page', { title: titleOf(tenant, number) }, { url: `/p/${number}` }),
    );
    for (let at = 0; at < pageCount; at += 50) {
      assert.ok(await ledger.save(system.client(), pages.slice(at, at + 50)));
    }
  }
  await waitUntilSettled(await system.store());
}

/** Reads pages of all tenants on several connections until stopped. */
class Reading {
  readonly statuses = new Map<number, number>();
  readonly wrong: string[] = [];
  #isRunning = true;
  readonly #work: Promise<unknown>;

  constructor(clients: readonly Client[], random: Random) {
    this.#work = Promise.all(
      clients.flatMap((client) => tenants.map((tenant) => this.#read(client, tenant, random))),
    );
  }

  async #read(client: Client, tenant: Tenant, random: Random): Promise<void> {
    while (this.#isRunning) {
      const number = random.below(pageCount);
      const { status, text } = await client.get(`/v2?url=/p/${number}`, { key: `${tenant}-${clientKey}` });
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      // The client already fails on a 503 without Retry-After.
      if (status === 200 && !text.includes(`"title":"${titleOf(tenant, number)}"`)) {
        this.wrong.push(`${tenant} p${number}: ${text.slice(0, 300)}`);
      }
      if (status !== 200) await sleep(restMs);
      if (status !== 200 && status !== 503)
        this.wrong.push(`${tenant} p${number}: ${status} ${text.slice(0, 300)}`);
    }
  }

  get counts(): string {
    return JSON.stringify(Object.fromEntries(this.statuses));
  }

  async end(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
  }
}

/** Waits until readiness, metrics and status of every front are right, and its saves are visible, within the time limit. */
async function allIsRight(system: System): Promise<void> {
  const backMs = performance.now();
  const left = () => Math.max(1, recoveredMs - (performance.now() - backMs));
  await system.ready(left());
  for (const front of system.fronts) {
    const client = system.client(front);
    const isRight = async () => {
      const metrics = await client.get('/metrics');
      const status = await client.get('/management/v1/status', { key: `acme-${managementKey}` });
      const roles = ['web', 'worker', 'jobs'].every((role) => metrics.text.includes(`role="${role}"`));
      return metrics.status === 200 && status.status === 200 && roles;
    };
    await until(`${front} tells its metrics and status`, isRight, left());
    for (const tenant of tenants) {
      const ledger = new Ledger({ key: `${tenant}-${sourceKey}`, sourceId });
      const title = `${tenant} ${front} ${Math.round(backMs)}`;
      await until(
        'a save is accepted',
        () => ledger.save(client, [entityOf('new', 'page', { title }, { url: '/new' })]),
        left(),
      );
      await until(
        'it is visible',
        async () => {
          const { text } = await client.get('/v2?url=/new', { key: `${tenant}-${clientKey}` });
          return text.includes(title);
        },
        left(),
      );
    }
  }
}

let running: Promise<System> | null = null;
after(async () => (await running)?.stop());

/** The platform of the tests that kill Redis. */
async function uncached(): Promise<System> {
  const env = { DELIVERY_CACHE_MB: '0' };
  running ??= System.start({ web: 2, workers: 2, jobs: 1, partitions: 4, files, env });
  const system = await running;
  await fill(system);
  return system;
}

test(
  'Redis restarts: a Redis that is killed repeatedly mixes up no replies',
  oneRedisOnly,
  async (context) => {
    const random = Random.forTest('redis-restarts');
    const system = await uncached();
    const reading = new Reading(
      [...system.fronts, ...system.fronts].map((front) => system.client(front)),
      random,
    );
    for (let time = 0; time < 12; time += 1) {
      await sleep(random.between(100, 600));
      await system.kill('redis');
      await sleep(random.between(0, 200));
      await system.restart('redis');
    }
    await allIsRight(system);
    await reading.end();
    context.diagnostic(`answers by status: ${reading.counts}`);
    assert.deepEqual(reading.wrong.slice(0, 5), []);
    assert.ok((reading.statuses.get(200) ?? 0) > 0);
  },
);

test(
  'Redis restarts: after a stall of any length every process has recovered within 15 s',
  oneRedisOnly,
  async (context) => {
    const random = Random.forTest('redis-stalls');
    let redisPort = 0;
    const wire = await SlowRedis.start(() => redisPort);
    const started = System.start({
      partitions: 4,
      files,
      env: { REDIS_URL: wire.url, REDIS_TIMEOUT_SECONDS: '2', DELIVERY_CACHE_MB: '0' },
      onRedis: (port) => {
        redisPort = port;
      },
    });
    context.after(() => started.then((system) => system.stop()).finally(() => wire.stop()));
    const system = await started;
    await fill(system);
    for (const stallMs of (process.env.MILLRACE_STALLS ?? '2,14')
      .split(',')
      .map((seconds) => 1_000 * Number(seconds))) {
      const reading = new Reading([system.client()], random);
      wire.stall();
      await sleep(stallMs);
      wire.resume();
      await allIsRight(system);
      await reading.end();
      assert.deepEqual(reading.wrong.slice(0, 5), []);
      context.diagnostic(`${stallMs} ms: ${reading.counts}`);
    }
    // The sockets stay open but nothing arrives, as with a router that has lost its connection state.
    wire.forgetAll();
    await allIsRight(system);
  },
);

/** Mounts a small file system, which the test can fill. @returns false if mounting is not allowed */
function mountSmall(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Redis writes at the same time, so the last bytes may not fit. */
function fillDisk(file: string, bytes: number): void {
  try {
    writeFileSync(file, Buffer.alloc(bytes));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

test('Redis restarts: a full disk causes no wrong read, also afterwards', oneRedisOnly, async (context) => {
  const random = Random.forTest('full-disk');
  const system = await uncached();
  await system.kill('redis');
  const kept = path.join(system.scratchDir, 'kept');
  execFileSync('cp', ['-a', system.redisDir, kept]);
  if (!mountSmall(system.redisDir)) {
    context.skip('mounting a small file system is not allowed here');
    return;
  }
  try {
    execFileSync('cp', ['-a', `${kept}/.`, system.redisDir]);
    await system.restart('redis');
    await allIsRight(system);
    const reading = new Reading(
      system.fronts.map((front) => system.client(front)),
      random,
    );
    const { bavail, bsize } = statfsSync(system.redisDir);
    const filler = path.join(system.redisDir, 'filler');
    fillDisk(filler, bavail * bsize);
    const ledger = new Ledger({ key: `acme-${sourceKey}`, sourceId });
    for (let time = 0; time < 5; time += 1) {
      await ledger.save(system.client(), [entityOf(`big${time}`, 'page', { title: 'x'.repeat(20_000) })]);
      // Redis exits if it cannot write its file, even at startup. A supervisor would restart it.
      if (!system.process('redis').isRunning) system.process('redis').start();
      await sleep(500);
    }
    unlinkSync(filler);
    if (!system.process('redis').isRunning) await system.restart('redis');
    await allIsRight(system);
    await reading.end();
    context.diagnostic(`answers by status: ${reading.counts}`);
    assert.deepEqual(reading.wrong.slice(0, 5), []);
  } finally {
    execFileSync('umount', ['-l', system.redisDir]);
  }
});
