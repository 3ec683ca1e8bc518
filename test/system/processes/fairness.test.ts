/** Imports delay neither other tenants nor single saves of their own tenant (docs/promises.md "Load and outages"). */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { keys } from '../../../src/store/keys.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { SystemProcess } from '../support/processes/process.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const bootstrap = fileURLToPath(new URL('../../../src/cli/bootstrap.mjs', import.meta.url));
const pages = 3_000;
const importRequests = 64;
/**
 * Maximum number of unprocessed entities of the import. It starts with 400, and workers with so many lookups process far fewer in
 * the 100 ms that they may lag.
 */
const unprocessedMax = 1_000;
/**
 * Maximum share of the import's duration, as a median. docs/promises.md has milliseconds, for an idle machine; tests run in
 * parallel, on an unknown number of cores. Without a bound on how far the import runs ahead, a save would only become visible at
 * the end of the import.
 */
const [savedShareMax, seenShareMax] = [0.1, 0.2];
/** More than the concurrent requests of the import, and fewer than those of the flood. */
const backlogMax = 100;
const floodConnections = 120;

/** A view that is expensive to build: each of its entries is a separate lookup. */
const dear = {
  page: {
    triggers: { cms: ['page'] },
    route: { url: '/pages/{originId}' },
    properties: {
      title: '{p.title}',
      groups: {
        type: 'array',
        input: '{p.groups}',
        items: {
          type: 'array',
          var: 'other',
          input: { $lookup: { filter: 'p.group eq {item}', top: 5 } },
          items: '{other.originId}',
        },
      },
    },
  },
};
const plain = {
  page: {
    triggers: { cms: ['page'] },
    route: { url: '/pages/{originId}' },
    properties: { title: '{p.title}' },
  },
};

const rude = { tenant: 'rude', source: `rude-${sourceKey}`, client: `rude-${clientKey}` };
const quiet = { tenant: 'quiet', source: `quiet-${sourceKey}`, client: `quiet-${clientKey}` };

function page(number: number, title: string): SourceEntity {
  // No page looks up the groups of imported pages, so that none of these causes work for another.
  const groups = Array.from({ length: 3 }, (_, index) => `g${(number + index) % 40}`);
  return entityOf(`p${number}`, 'page', { title, group: `of ${number}`, groups, text: 'x'.repeat(300) });
}

let system: System;
let client: Client;
before(async () => {
  system = await System.start({
    web: 1,
    workers: 1,
    jobs: 0,
    partitions: 4,
    files: {
      ...siteFiles({ tenant: 'rude', keyPrefix: 'rude-', schemas: dear }),
      ...siteFiles({ tenant: 'quiet', keyPrefix: 'quiet-', schemas: plain }),
    },
    env: { INGEST_BACKLOG: String(backlogMax) },
  });
  client = system.client('web.1', floodConnections);
});
after(() => system.stop());

/** Number of accepted entities of the rude tenant that are not yet processed. */
async function unprocessed(): Promise<number> {
  const store = await system.store();
  const counts = await Promise.all(
    store.partitions.tags.map(async (tag) => {
      const done = await store.client.hlen(keys.processed(tag, rude.tenant, sourceId));
      return (await store.client.hlen(keys.entities(tag, rude.tenant, sourceId))) - done;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Saves an entity and reads it with its version. @returns milliseconds until the save was answered, and until it was read */
async function saveAndRead(
  { source, client: key }: typeof quiet,
  number: number,
  title: string,
): Promise<{ saved: number; seen: number }> {
  const startMs = performance.now();
  const { originId, type, url, properties } = page(number, title);
  const save = await client.post(`/ingest/v2/${originId}`, { type, url, properties }, { key: source });
  const saved = performance.now() - startMs;
  assert.equal(save.status, 200);
  const version = String(save.headers['x-service-version']);
  const read = await client.get(`/v2?url=/pages/${originId}`, { key, version });
  assert.equal(read.status, 200);
  assert.equal(read.json.route.title, title);
  return { saved, seen: performance.now() - startMs };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

test('fairness: an import stays close to its workers, and single saves of all tenants are soon readable', async (context) => {
  const file = path.join(system.scratchDir, 'pages.ndjson');
  const lines = Array.from({ length: pages }, (_, number) => `${JSON.stringify(page(number, 'imported'))}\n`);
  await writeFile(file, lines.join(''));
  const words = [bootstrap, 'import', file, '--key', rude.source, '--url', system.url()];
  const command = new SystemProcess('import', () => ({
    program: process.execPath,
    words: [...words, '--concurrency', String(importRequests)],
    env: system.environment(),
  }));
  command.start();
  const ended = command.ended();
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until('the import has started', async () => isOver || (await unprocessed()) > 0);
  const startMs = performance.now();
  const [saved, seen]: [number[], number[]] = [[], []];
  let most = 0;
  const watch = async () => {
    while (!isOver) {
      most = Math.max(most, await unprocessed());
      await sleep(20);
    }
  };
  const save = async (who: typeof quiet, number: number) => {
    for (let count = 0; !isOver; count += 1) {
      const times = await saveAndRead(who, number, `save ${count}`);
      saved.push(times.saved);
      seen.push(times.seen);
    }
  };
  await Promise.all([watch(), save(quiet, 1), save(rude, pages + 1)]);
  const importMs = performance.now() - startMs;
  assert.equal((await ended).code, 0, command.output);
  await waitUntilSettled(await system.store());
  const [savedMs, seenMs] = [median(saved), median(seen)];
  const figures = `at most ${most} entities unprocessed; saved ${savedMs} ms, seen ${seenMs} ms of ${importMs}`;
  context.diagnostic(`${figures}, ${seen.length} times`);
  assert.ok(seen.length > 10, 'there was time for single saves');
  assert.ok(most <= unprocessedMax, figures);
  assert.ok(savedMs <= savedShareMax * importMs && seenMs <= seenShareMax * importMs, figures);
});

test('fairness: a tenant that floods is rejected, and no other tenant is', async () => {
  let isOver = false;
  const counts = new Map<number, number>();
  const flood = async (connection: number) => {
    for (let count = 0; !isOver; count += 1) {
      const { originId, type, url, properties } = page(connection, `flood ${count}`);
      const answer = await client.post(
        `/ingest/v2/${originId}`,
        { type, url, properties },
        { key: rude.source },
      );
      counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    }
  };
  // Uses its own connections, or its requests would queue after those of the flood.
  const other = system.client('web.1');
  const save = async () => {
    try {
      for (let count = 0; count < 15; count += 1) {
        const entities = [page(1, `bulk ${count}`)];
        const bulk = await other.post('/ingest/v2', entities as unknown as [], { key: quiet.source });
        assert.equal(bulk.status, 200);
        const { type, url, properties } = page(2, `single ${count}`);
        const single = await other.post('/ingest/v2/p2', { type, url, properties }, { key: quiet.source });
        assert.equal(single.status, 200);
        assert.equal((await other.delete('/ingest/v2/p2', { key: quiet.source })).status, 200);
        await sleep(20);
      }
    } finally {
      isOver = true;
    }
  };
  await Promise.all([
    save(),
    ...Array.from({ length: floodConnections }, (_, connection) => flood(connection)),
  ]);
  assert.deepEqual([...counts.keys()].sort(), [200, 503], JSON.stringify([...counts]));
  await waitUntilSettled(await system.store());
});
