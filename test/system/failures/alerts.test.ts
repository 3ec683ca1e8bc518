/**
 * Each alert rule fires when what it monitors is broken, and not before. The rules are evaluated on the real /metrics of a
 * front. The logs have a line when the problem starts, and one when it ends.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { alertRules } from '../../support/prometheus/alert-rules.ts';
import { evaluate, type Scrape } from '../../support/prometheus/promql.ts';
import { parsePrometheusText, type Sample } from '../../support/prometheus-text.ts';
import { until } from '../../support/until.ts';
import { managed } from '../support/manage.ts';
import { RedisServer } from '../support/processes/redis-server.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Receiver, receiverEnvironment, webhookTo } from '../support/receiver.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const rules = new Map(alertRules().map((rule) => [rule.name, rule]));
/** Alerts that a test in this file has triggered. */
const fired = new Set<string>();
const receiver = new Receiver();
let system: System;
let redis: Redis;
let replica: RedisServer;

before(async () => {
  const port = await receiver.listen();
  system = await System.start({
    partitions: 2,
    files: siteFiles({
      schemas: { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } },
      indexes: {
        pages: {
          triggers: { cms: ['page'] },
          properties: { title: '{p.title}' },
          index: { fields: { title: { type: 'keyword' } } },
        },
      },
      settings: { ...managed, webhooks: [webhookTo(port, 'hook')] },
    }),
    redis: { appendFsync: 'everysec' },
    env: { ...receiverEnvironment, CONFIRM_REPLICAS: '1', LEASE_SECONDS: '2' },
    onRedis: async (primary) => {
      replica = await RedisServer.start({ replicaOf: primary });
    },
  });
  redis = new Redis(system.redis.url);
});
after(async () => {
  redis?.disconnect();
  await system?.stop();
  await replica?.stop();
  receiver.close();
});

/** The scrapes of one front, as Prometheus stores them. */
class Prometheus {
  readonly #scrapes: Scrape[] = [];

  async scrape(): Promise<void> {
    const up = (value: number): Sample => ({ name: 'up', labels: new Map([['job', 'millrace']]), value });
    const atMs = performance.now();
    const instance = 'web.1';
    try {
      const response = await fetch(`${system.url()}/metrics`, { signal: AbortSignal.timeout(10_000) });
      assert.equal(response.status, 200);
      const families = parsePrometheusText(await response.text());
      const samples = [...families.values()].flatMap((family) => family.samples);
      this.#scrapes.push({ instance, atMs, samples: [up(1), ...samples] });
    } catch {
      this.#scrapes.push({ instance, atMs, samples: [up(0)] });
    }
  }

  fires(name: string): boolean {
    const rule = rules.get(name);
    assert.ok(rule !== undefined, name);
    return evaluate(rule.expression, this.#scrapes, performance.now()).length > 0;
  }
}

/** Waits until no such problem exists, breaks something, and waits until the alerts fire. */
async function firesWhen(
  names: readonly string[],
  breakIt: () => unknown,
  meanwhile: () => unknown = () => {},
): Promise<Prometheus> {
  let quiet = new Prometheus();
  await until(`none of ${names} fires`, async () => {
    quiet = new Prometheus();
    await quiet.scrape();
    return names.every((name) => !quiet.fires(name));
  });
  await breakIt();
  for (const name of names) {
    await until(`${name} fires`, async () => {
      await meanwhile();
      await quiet.scrape();
      return quiet.fires(name);
    });
    fired.add(name);
  }
  return quiet;
}

async function ends(name: string, prometheus: Prometheus): Promise<void> {
  await until(`${name} ends`, async () => {
    await prometheus.scrape();
    return !prometheus.fires(name);
  });
}

/** Number of log lines of a process with this message. */
function logged(name: string, line: string): number {
  return system.process(name).output.split(`"msg":"${line}"`).length - 1;
}

/** @param before how often the line was logged before */
async function logsOnce(line: string, name = 'web.1', before = 0): Promise<void> {
  await until(`${name} logs ${line}`, () => logged(name, line) > before);
  assert.equal(logged(name, line), before + 1, line);
}

async function save(title: string): Promise<number> {
  const page = { originId: 'a', type: 'page', url: '/a', properties: { title } };
  const answer = await system.client().post('/ingest/v2', [page], { key: sourceKey });
  return answer.status;
}

test('alerts: a Redis that is almost full, then full', oneRedisOnly, async () => {
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await firesWhen(['MillraceRedisMemory'], async () => {
    const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
    await redis.config('SET', 'maxmemory', Math.round(used * 1.15));
  });
  const prometheus = await firesWhen(['MillraceStoreFull', 'MillraceDegraded'], () =>
    redis.config('SET', 'maxmemory', '1mb'),
  );
  await logsOnce('Redis is full: saves are rejected');
  assert.equal((await fetch(`${system.url()}/health/ready`)).status, 200);
  await redis.config('SET', 'maxmemory', '0');
  await ends('MillraceStoreFull', prometheus);
  await logsOnce('Redis has free memory again');
});

test('alerts: a full disk', oneRedisOnly, async () => {
  const limit = (size: string) =>
    spawnSync('prlimit', ['--pid', String(system.redis.process.pid), `--fsize=${size}`]);
  const prometheus = await firesWhen(['MillraceDiskFull'], () => {
    assert.equal(limit('1024:unlimited').status, 0);
  });
  await logsOnce('Redis cannot write its file: saves are rejected');
  assert.equal(await save('while the disk is full'), 503);
  const ready = await fetch(`${system.url()}/health/ready`);
  assert.deepEqual([ready.status, JSON.parse(await ready.text()).status], [200, 'degraded']);
  assert.equal(limit('unlimited').status, 0);
  await ends('MillraceDiskFull', prometheus);
  await logsOnce('Redis can write its file again');
  await until('saves are accepted', async () => (await save('there is room')) === 200);
});

test('alerts: a lost replica', oneRedisOnly, async () => {
  const prometheus = await firesWhen(['MillraceReplicasMissing', 'MillraceReplicaLost'], () =>
    replica.process.signal('SIGKILL'),
  );
  await logsOnce('a replica is missing or behind: saves are rejected');
  await replica.start();
  await ends('MillraceReplicasMissing', prometheus);
  await logsOnce('all replicas are connected again');
});

test('alerts: a webhook whose receiver fails', async () => {
  receiver.answer = (response) => response.writeHead(500).end();
  const prometheus = await firesWhen(['MillraceWebhookFailing'], async () => {
    await until('a save is accepted', async () => (await save('for the webhook')) === 200);
  });
  await logsOnce('a webhook is failing', 'jobs.1');
  receiver.answer = (response) => response.writeHead(204).end();
  await ends('MillraceWebhookFailing', prometheus);
  await logsOnce('a webhook works again', 'jobs.1');
});

test('alerts: a missing jobs process', async () => {
  const prometheus = await firesWhen(['MillraceNoJobsProcess'], () => system.kill('jobs.1'));
  await logsOnce('no jobs process is running');
  await system.restart('jobs.1');
  await ends('MillraceNoJobsProcess', prometheus);
  await logsOnce('a jobs process is running again');
});

test('alerts: a missing worker, with failing queries', async () => {
  const query = () => system.client().post('/v1/pages', {}, { key: clientKey });
  await query();
  const [begins, recovered] = ['partitions have no owner', 'every partition has an owner again'] as const;
  // A Redis that was stopped in another test may have cost leases.
  const before = [logged('web.1', begins), logged('web.1', recovered)];
  const prometheus = await firesWhen(
    ['MillraceNoWorker', 'MillracePartitionsWithoutOwner', 'MillraceErrors'],
    () => system.kill('worker.1'),
    async () => assert.equal((await query()).status, 503),
  );
  await logsOnce(begins, 'web.1', before[0]);
  assert.equal((await fetch(`${system.url()}/health/ready`)).status, 200);
  await system.restart('worker.1');
  await ends('MillracePartitionsWithoutOwner', prometheus);
  await logsOnce(recovered, 'web.1', before[1]);
  assert.equal(logged('web.1', begins), (before[0] ?? 0) + 1, 'it did not start twice');
});

test('alerts: a front that is busy for a long time', async () => {
  // The percentile covers the time since the last scrape by any client, so the front is frozen before each scrape.
  const freeze = async () => {
    await system.process('web.1').signal('SIGSTOP');
    const frozenMs = performance.now();
    await until('it was frozen for 1 s', () => performance.now() - frozenMs > 1_000);
    await system.process('web.1').signal('SIGCONT');
  };
  await firesWhen(['MillraceEventLoopLate'], freeze, freeze);
});

test('alerts: a Redis that does not reply', oneRedisOnly, async () => {
  const prometheus = await firesWhen(['MillraceNotReady'], async () => {
    // Counted before and after, because a histogram of a single scrape has no rate.
    await system.client().get('/v2?url=/b', { key: clientKey });
    await system.kill('redis', 'SIGSTOP');
  });
  const reads = Array.from({ length: 4 }, (_, at) =>
    system.client().get(`/v2?url=/nothing-${at}`, { key: clientKey }),
  );
  await Promise.all(reads);
  await prometheus.scrape();
  assert.ok(prometheus.fires('MillraceSlow'), 'reads took longer than a second');
  fired.add('MillraceSlow');
  await system.kill('redis', 'SIGCONT');
  await ends('MillraceNotReady', prometheus);
});

test('alerts: a missing front', async () => {
  const prometheus = await firesWhen(['MillraceFrontDown'], () => system.kill('web.1'));
  await system.restart('web.1');
  await ends('MillraceFrontDown', prometheus);
});

/** Conditions that are hard to cause: figures on both sides of the threshold replace the scraped ones. */
const figures: Readonly<Record<string, readonly [quiet: Figures, wrong: Figures]>> = {
  MillraceChangesWait: [
    [{ millrace_stream_lag_entries: 5_000 }, { millrace_stream_lag_entries: 10 }],
    [{ millrace_stream_lag_entries: 5_000 }, { millrace_stream_lag_entries: 1_001 }],
  ],
  MillraceManyScheduled: [
    [{ millrace_scheduled_entities: 1_000_000 }],
    [{ millrace_scheduled_entities: 1_000_001 }],
  ],
  MillraceFileDescriptors: [
    [{ millrace_process_open_fds: 80, millrace_process_max_fds: 100 }],
    [{ millrace_process_open_fds: 81, millrace_process_max_fds: 100 }],
  ],
  MillraceLeaseLost: [
    [{ millrace_fenced_total: 3 }, { millrace_fenced_total: 3 }],
    [{ millrace_fenced_total: 3 }, { millrace_fenced_total: 4 }],
  ],
};

type Figures = readonly Readonly<Record<string, number>>[];

test('alerts: rules about figures that no test can produce fire at their thresholds', () => {
  for (const [name, [quiet, wrong]] of Object.entries(figures)) {
    const fires = (scraped: Figures) => {
      const scrapes = scraped.map((values, at) => ({
        instance: 'web.1',
        atMs: at * 15_000,
        samples: Object.entries(values).map(([metric, value]) => ({
          name: metric,
          labels: new Map([['process', 'p']]),
          value,
        })),
      }));
      const atMs = (scraped.length - 1) * 15_000;
      return evaluate(rules.get(name)?.expression ?? '', scrapes, atMs).length > 0;
    };
    assert.deepEqual([fires(quiet), fires(wrong)], [false, true], name);
    fired.add(name);
  }
});

test('alerts: every rule has fired', oneRedisOnly, () => {
  assert.deepEqual(
    [...rules.keys()].filter((name) => !fired.has(name)),
    [],
  );
});
