/** Workers are added and removed while fronts on several addresses run queries: no query fails or is wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { partitionsOf } from '../support/partitions.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const partitions = 8;
const itemCount = 1_000;
const takeoverMs = 10_000;
/** Pause of a reader, because a reader without pauses takes the processor time of what it watches. */
const restMs = 20;

const files = siteFiles({
  indexes: {
    things: {
      triggers: { cms: ['thing'] },
      properties: { name: '{p.name}', rank: { type: 'number', value: '{p.rank}' } },
      index: { fields: { name: { type: 'text' }, rank: { type: 'long' } } },
    },
  },
});

test('scaling: workers are added and removed without a failed query', async (context) => {
  const started = System.start({ web: 2, workers: 1, jobs: 0, partitions, files, hosts: 'several' });
  context.after(() => started.then((system) => system.stop()));
  const system = await started;
  const store = await system.store();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  for (let at = 0; at < itemCount; at += 50) {
    const portion = Array.from({ length: 50 }, (_, index) =>
      entityOf(`t${at + index}`, 'thing', { name: `Thing ${at + index}`, rank: (at + index) % 100 }),
    );
    assert.ok(await ledger.save(system.client(), portion));
  }
  await waitUntilSettled(store);

  let [asked, slowestMs, isOver] = [0, 0, false];
  const failures: string[] = [];
  const ask = async (front: string): Promise<void> => {
    const client = system.client(front, 1);
    const query = { search: { field: 'name', value: 'thing' }, sort: [{ field: 'rank' }] };
    while (!isOver) {
      await sleep(restMs);
      const startMs = performance.now();
      const { status, json, text } = await client.post('/v1/things', query, { key: clientKey });
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      asked += 1;
      if (status !== 200 || json.totalResults !== itemCount) failures.push(`${status} ${text.slice(0, 200)}`);
    }
  };
  const asking = system.fronts.map(ask);
  const owns = async (name: string) => (await partitionsOf(store, system.process(name).pid)).length;
  const tell = (what: string, sinceMs: number) =>
    context.diagnostic(
      `${what} after ${Math.round(performance.now() - sinceMs)} ms; ${asked} queries so far`,
    );
  try {
    await system.add('worker.2');
    const isRunning = () => system.process('worker.2').outputOfThisLife.includes('running');
    // Node may start slowly on a busy machine, which does not count here.
    await until('the new worker is running', isRunning);
    const addedMs = performance.now();
    await until('it has taken over its part', async () => (await owns('worker.2')) >= 4, takeoverMs);
    tell('a worker that was added has its part', addedMs);

    const leftMs = performance.now();
    await system.process('worker.1').stop();
    await until(
      'the other worker has all partitions',
      async () => (await owns('worker.2')) === partitions,
      takeoverMs,
    );
    tell('a worker that was stopped is replaced', leftMs);
    await until('queries continue', () => asked > 50);
  } finally {
    isOver = true;
    await Promise.all(asking);
  }
  context.diagnostic(`${asked} queries, the slowest took ${Math.round(slowestMs)} ms`);
  assert.deepEqual(failures, []);
});
