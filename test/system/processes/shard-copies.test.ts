/**
 * With shard copies, no query fails while workers are killed, paused or restarted, or while the whole platform is restarted
 * process by process behind a load balancer. Only requests on broken connections are retried, at the other front. Answers are
 * complete, and never older than what was shown or acknowledged before.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../../src/contract/json.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { until } from '../../support/until.ts';
import { type Answer, type Client, NoResponseError } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const partitions = 8;
const [itemCount, ranks] = [1_000, 50];
const connections = 6;
/** Pause of a reader between a response and its next query, which leaves the processors to starting processes. */
const restMs = 40;
/** Longer than a lease, and longer than the heartbeat timeout. */
const pauseMs = 5_000;

const files = siteFiles({
  indexes: {
    things: {
      triggers: { cms: ['thing', 'counter'] },
      properties: {
        rank: { type: 'number', value: '{p.rank}' },
        value: { type: 'number', value: '{p.value}' },
      },
      index: { fields: { rank: { type: 'long' }, value: { type: 'long' } } },
    },
  },
});

let system: System;
let balancer: Balancer;

/** Sends a request to one of the fronts, and retries at the other one if the connection breaks. */
class Balancer {
  readonly #clients: readonly Client[];
  #turn = 0;
  broken = 0;
  /** The last value of the counter that was acknowledged. */
  saved = 0;

  constructor(of: System) {
    this.#clients = of.fronts.map((name) => of.client(name, connections));
  }

  /** @returns the response, and the index of the front */
  async query(body: Json, headers: Readonly<Record<string, string>> = {}): Promise<[Answer, number]> {
    return await this.#send((client) => client.post('/v1/things', body, { key: clientKey, headers }));
  }

  async #send(call: (client: Client) => Promise<Answer>): Promise<[Answer, number]> {
    this.#turn += 1;
    const first = this.#turn;
    for (let tried = 1; ; tried += 1) {
      const front = (first + tried) % this.#clients.length;
      const client = this.#clients[front];
      assert.ok(client !== undefined);
      try {
        return [await call(client), front];
      } catch (error) {
        if (!(error instanceof NoResponseError) || tried === this.#clients.length) throw error;
        this.broken += 1;
      }
    }
  }

  save(value: number): Promise<[Answer, number]> {
    const entity = { originId: 'counter', type: 'counter', properties: { rank: -1, value } };
    return this.#send((client) => client.post('/ingest/v2', [entity], { key: sourceKey }));
  }
}

/** Readers that know the right results, and a writer that reads its own writes, until stopped. */
class Load {
  asked = 0;
  written = 0;
  slowestMs = 0;
  readonly failures: string[] = [];
  readonly #lastSeen: number[] = [];
  #isOver = false;
  readonly #work: readonly Promise<void>[];

  constructor() {
    this.#work = [
      ...Array.from({ length: connections }, (_, reader) => this.#until(() => this.#read(reader))),
      this.#until(() => this.#watch()),
      this.#until(() => this.#write()),
    ];
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#work);
  }

  async #until(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      try {
        await act();
      } catch (error) {
        this.failures.push(String(error));
      }
    }
  }

  /** Each query is unique, so that no front answers it from its cache. */
  async #read(reader: number): Promise<void> {
    this.asked += 1;
    const rank = this.asked % ranks;
    const other = {
      field: 'value',
      operator: 'notEquals',
      value: 1_000_000 + this.asked * connections + reader,
    };
    const filters = { and: [{ field: 'rank', operator: 'equals', value: rank }, other] };
    const startMs = performance.now();
    const [{ status, json, text }] = await balancer.query({ filters, pagination: { pageSize: 100 } });
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
    const ids = status === 200 ? json.results.map((row: { _originId: string }) => row._originId).sort() : [];
    const wanted = Array.from({ length: itemCount / ranks }, (_, at) => `t${at * ranks + rank}`).sort();
    if (status !== 200 || json.totalResults !== wanted.length || ids.join() !== wanted.join())
      this.failures.push(`${status} ${text.slice(0, 200)}`);
    await sleep(restMs);
  }

  /** A front must not show an older value than before. */
  async #watch(): Promise<void> {
    const [{ status, json, text }, front] = await balancer.query(counterQuery);
    const value = json.results?.[0]?.value ?? -1;
    const before = this.#lastSeen[front] ?? 0;
    if (status !== 200 || value < before)
      this.failures.push(`${before} was seen: ${status} ${text.slice(0, 200)}`);
    this.#lastSeen[front] = value;
    await sleep(restMs);
  }

  async #write(): Promise<void> {
    const value = balancer.saved + 1;
    const [saved] = await balancer.save(value);
    assert.equal(saved.status, 200, saved.text);
    balancer.saved = value;
    const version = String(saved.headers['x-service-version']);
    const [{ status, json, text }] = await balancer.query(counterQuery, { 'X-Service-Min-Version': version });
    if (status !== 200 || json.results[0]?.value !== value)
      this.failures.push(`${value} was saved: ${status} ${text}`);
    this.written += 1;
    await sleep(restMs);
  }
}

const counterQuery: Json = { filters: { and: [{ field: 'rank', operator: 'equals', value: -1 }] } };

before(async () => {
  // Too long for the path of a Unix socket, so that fronts reach workers over TCP, as on several machines.
  const longFolder = mkdtempSync(path.join(tmpdir(), `millrace-${'x'.repeat(120)}`));
  after(() => rmSync(longFolder, { recursive: true, force: true }));
  const env = { SHARD_COPIES: '2', LEASE_SECONDS: '2', MIN_VERSION_WAIT_SECONDS: '30', TMPDIR: longFolder };
  system = await System.start({ web: 2, workers: 2, jobs: 1, partitions, files, env });
  balancer = new Balancer(system);
  const ledger = new Ledger({ key: sourceKey, sourceId });
  for (let at = 0; at < itemCount; at += 50) {
    const portion = Array.from({ length: 50 }, (_, index) => {
      const number = at + index;
      return entityOf(`t${number}`, 'thing', { rank: number % ranks, value: number });
    });
    assert.ok(await ledger.save(system.client(), portion));
  }
  const [{ status }] = await balancer.save(0);
  assert.equal(status, 200);
  await waitUntilSettled(await system.store());
  await untilCopied();
  const workers = (await liveProcesses(await system.store())).filter(({ role }) => role === 'worker');
  assert.deepEqual(
    workers.map(({ queryAddresses }) => queryAddresses?.socketPath),
    [null, null],
  );
});
after(() => system.stop());

/** Waits until every running worker holds its copies and reports them. */
async function untilCopied(): Promise<void> {
  const store = await system.store();
  const pids = new Set(system.workers.map((name) => system.process(name).pid));
  await until('the copies are ready', async () => {
    const ready = (await liveProcesses(store)).filter(
      ({ pid, shardCopies }) => pids.has(pid) && shardCopies?.ready.join() === '0/1',
    );
    return ready.length === pids.size;
  });
}

/** As in `docs/guide/upgrading.md`: waits until the process runs, and every front is ready without `degraded`. */
async function untilRunning(name: string): Promise<void> {
  const isWorker = name.startsWith('worker');
  await until(`${name} runs`, () => {
    return !isWorker || system.process(name).outputOfThisLife.includes('worker is running');
  });
  if (isWorker) await untilCopied();
  for (const front of system.fronts) {
    await until(`${front} is ready`, async () => {
      const answer = await fetch(`${system.url(front)}/health/ready`).catch(() => null);
      return answer?.status === 200 && !('degraded' in ((await answer.json()) as object));
    });
  }
}

async function underLoad(what: string, act: (load: Load) => Promise<void>): Promise<string> {
  const load = new Load();
  const startMs = performance.now();
  const { broken } = balancer;
  try {
    await until('queries are running', () => load.asked > 100 && load.written > 0);
    await act(load);
    const { asked, written } = load;
    await until('queries and writes continue', () => load.asked > asked + 100 && load.written > written);
  } finally {
    await load.end();
  }
  const seconds = (performance.now() - startMs) / 1000;
  assert.deepEqual([...new Set(load.failures)].slice(0, 5), [], `${load.failures.length} of ${load.asked}`);
  return (
    `${what}: ${load.asked} queries (${Math.round(load.asked / seconds)}/s), the slowest ${Math.round(load.slowestMs)} ms, ` +
    `${load.written} writes read, ${balancer.broken - broken} broken connections`
  );
}

test('shard copies: a killed worker fails no query', async (context) => {
  const summary = await underLoad('SIGKILL', async (load) => {
    await system.kill('worker.1');
    const { asked, written } = load;
    await until('queries continue without it', () => load.asked > asked + 200);
    await until('its partitions have an owner again', () => load.written > written);
    await system.restart('worker.1');
    await untilCopied();
  });
  context.diagnostic(summary);
});

test('shard copies: a worker that is paused and resumed fails no query', async (context) => {
  const summary = await underLoad('SIGSTOP', async () => {
    await system.kill('worker.2', 'SIGSTOP');
    await sleep(pauseMs);
    await system.kill('worker.2', 'SIGCONT');
    await untilCopied();
  });
  context.diagnostic(summary);
});

test('shard copies: a restart of all workers and fronts, one by one, fails no query behind a load balancer', async (context) => {
  const summary = await underLoad('rolling restart', async () => {
    for (const name of [...system.workers, ...system.fronts]) {
      await system.process(name).stop();
      await system.restart(name);
      await untilRunning(name);
    }
  });
  context.diagnostic(summary);
});
