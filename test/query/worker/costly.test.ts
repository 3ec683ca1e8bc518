/** A costly query uses its own processor time, and does not delay others. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { type QueryOutcome, UnavailableError } from '../../../src/query/query-service.ts';
import { itemIndexField } from '../../../src/store/derived/items.ts';
import { TestRedis } from '../../support/redis.ts';
import { spentMs } from '../../support/spent.ts';
import { LongestTurn } from '../../support/turns.ts';
import { until } from '../../support/until.ts';
import { type Layout, readResult, schemaIndex, TestCluster, textOf } from '../support/cluster.ts';
import { environment, tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const fields = { f: 'keyword', n: 'integer' } as const;
const rude = tenantOf({ things: fields }, 'rude');
const polite = tenantOf({ things: fields }, 'polite');
const index = schemaIndex('things');
const target = { kind: 'index', alias: 'things' } as const;
const rowCount = 20_000;
/** Where a query need not use up its default budget of one second. */
const fewerRows = 10_000;

/**
 * A query has a second of processor time, and others wait for at most 100 ms of it (docs/promises.md "Load and outages"). A
 * query without slices would block them until it ends.
 */
const keptShareMax = 0.1;

/** Different texts of 1,000 characters. */
function longTexts(count: number): Map<string, JsonObject> {
  const text = 'lorem ipsum dolor sit amet '.repeat(40).slice(0, 990);
  return new Map(Array.from({ length: count }, (_, n) => [`item-${n}`, { f: `${text} ${n}`, n }]));
}

/** Conditions that each scan every text completely. */
function patterns(count: number): Json {
  // Single letters, because groups of three would use the trigrams.
  const letters = [...'loremipsumdolorsitamet'.repeat(4)].join('*');
  const rare = (n: number) => [...`${n}x${n}`].join('*');
  const condition = (n: number) => ({ field: 'f', operator: 'contains', value: `*${letters}*${rare(n)}*` });
  return { filters: { or: Array.from({ length: count }, (_, n) => condition(n)) } };
}

async function startCluster(context: TestContext, layout: Partial<Layout> = {}): Promise<TestCluster> {
  const all = { partitions: 2, workers: 1, others: [polite], ...layout };
  const cluster = await TestCluster.start(redis, rude, all);
  context.after(() => cluster.stop());
  return cluster;
}

async function writeInParts(cluster: TestCluster, items: ReadonlyMap<string, JsonObject>): Promise<void> {
  const all = [...items];
  for (let at = 0; at < all.length; at += 2_000) {
    await cluster.write(index, new Map(all.slice(at, at + 2_000)));
  }
}

function statsOf(cluster: TestCluster) {
  const [worker] = cluster.workers;
  assert.ok(worker !== undefined);
  return worker.responder.stats;
}

function refusalOf(outcome: QueryOutcome | undefined): string {
  assert.ok(outcome !== undefined && !outcome.ok, 'it was answered');
  assert.equal(outcome.status, 400);
  return outcome.errors.join('\n');
}

/** Another tenant writes and reads. @returns how long it took in ms, at most the processor time of this process */
async function politeRound(cluster: TestCluster, number: number): Promise<number> {
  const spentBefore = spentMs();
  const startedMs = performance.now();
  await cluster.write(index, new Map([['polite', { f: 'mine', n: number }]]), 1000, polite);
  const [outcome] = await cluster.runOf(polite, target, {});
  assert.ok(outcome?.ok);
  assert.equal(JSON.parse(readResult(outcome).rows[0]?.text.toString() ?? '').n, number);
  return Math.min(spentMs() - spentBefore, performance.now() - startedMs);
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

test('costly: a costly multi-query is refused with the most expensive part, and other tenants are served meanwhile', async (context) => {
  const cluster = await startCluster(context, { queryWaitMs: 30_000 });
  await writeInParts(cluster, longTexts(rowCount));
  await cluster.write(index, new Map([['polite', { f: 'mine', n: 1 }]]), 1000, polite);
  const alone: number[] = [];
  while (alone.length < 9) alone.push(await politeRound(cluster, alone.length));
  const aloneMs = medianOf(alone);

  const beforeOne = spentMs();
  const [one] = await cluster.run(target, patterns(100));
  const oneMs = spentMs() - beforeOne;
  assert.match(refusalOf(one), /^filters: the query was stopped after 1000 ms of processor time/);

  const turns = new LongestTurn(context);
  const before = spentMs();
  let isDone = false;
  const costly = cluster.run(target, ...Array.from({ length: 5 }, () => patterns(100))).finally(() => {
    isDone = true;
  });
  const waits: number[] = [];
  while (!isDone) waits.push(await politeRound(cluster, waits.length));
  const outcomes = await costly;
  const longestMs = turns.stop();
  const fiveMs = spentMs() - before;

  const [first] = outcomes;
  assert.match(refusalOf(first), /^filters: the query was stopped after 1000 ms of processor time/);
  assert.match(refusalOf(first), /contains "\*l\*o\*r.* on the field "f"/);
  assert.match(refusalOf(first), /fewer conditions/);
  // All of them together had twice that.
  for (const outcome of outcomes.slice(1)) assert.match(refusalOf(outcome), /send them in several requests/);
  // They have twice the budget of one, and one query also includes the shared work: 1.4 times its processor time. With a budget
  // for each of the five it would be 3.2 times. A busy machine takes longer for either.
  const times = fiveMs / oneMs;
  assert.ok(times < 2.5, `${Math.round(fiveMs)} ms of processor time, ${times.toFixed(1)} times that of one`);
  assert.ok(waits.length > 5, `${waits.length} reads of another tenant`);
  const addedMs = medianOf(waits) - aloneMs;
  context.diagnostic(
    `of ${Math.round(oneMs)} ms another tenant waited for ${Math.round(addedMs)}, beside ${Math.round(aloneMs)} of its own; the longest turn ${Math.round(longestMs)}`,
  );
  assert.ok(longestMs < keptShareMax * oneMs, `the event loop was blocked for ${Math.round(longestMs)} ms`);
  assert.ok(addedMs < keptShareMax * oneMs, `another tenant waited for ${Math.round(addedMs)} ms`);
  assert.ok(statsOf(cluster).refused >= 1);
  assert.ok(statsOf(cluster).pauses > 20);
});

test('costly: a query that pauses answers with the state when it began, and shows no later change', async (context) => {
  const cluster = await startCluster(context, { queryCpuMs: 60_000, queryWaitMs: 60_000 });
  await writeInParts(cluster, longTexts(4_000));
  const slow: Json = {
    filters: {
      and: [{ or: [...conditionsOf(patterns(20)), { field: 'n', operator: 'lessThan', value: 1e6 }] }],
    },
    facets: [{ field: 'n', size: 100 }],
    sort: [{ field: 'n', order: 'desc' }],
  };
  const [alone] = await cluster.run(target, slow);
  assert.ok(alone !== undefined);
  const pausesBefore = statsOf(cluster).pauses;
  const asked = cluster.run(target, slow, slow);
  await until('it pauses', () => statsOf(cluster).pauses > pausesBefore);
  const name = itemIndexField({ scope: { tenant: 'rude', environmentId: environment.id }, index });
  const live = cluster.workers[0]?.shards.live(name);
  assert.equal(live?.isPinned, true);
  // Removed, changed and new: in the shard immediately when no query is paused.
  await cluster.write(
    index,
    new Map<string, JsonObject | null>([
      ['item-3999', null],
      ['item-3998', { f: 'other', n: 2_000_000 }],
      ['item-new', { f: 'new', n: 5_000 }],
    ]),
  );
  const outcomes = await asked;
  for (const outcome of outcomes) assert.equal(textOf(outcome), textOf(alone));
  const [since] = await cluster.run(target, {
    sort: [{ field: 'n', order: 'desc' }],
    pagination: { pageSize: 3 },
  });
  assert.ok(since?.ok);
  assert.deepEqual(
    readResult(since).rows.map(({ originId }) => originId),
    ['item-3998', 'item-new', 'item-3997'],
  );
  assert.equal(live.isPinned, false);
});

function conditionsOf(query: Json): Json[] {
  const { filters } = query as { filters: { or: Json[] } };
  return filters.or;
}

test('costly: a query that would miss its deadline reports what was costly, not that nobody answers', async (context) => {
  const cluster = await startCluster(context, { queryCpuMs: 1_500, queryWaitMs: 1_500 });
  await writeInParts(cluster, longTexts(fewerRows));
  const before = spentMs();
  const asked = cluster.run(target, ...Array.from({ length: 5 }, () => patterns(100)));
  const outcomes = await asked.catch((error: unknown) => {
    assert.ok(error instanceof UnavailableError, String(error));
    return null;
  });
  // On a machine too busy for the query's budget (the engine's own threads use part of it here), the query is not proven to be
  // costly.
  if (outcomes === null) {
    assert.ok(spentMs() - before < 1_500, `${Math.round(spentMs() - before)} ms of processor time wasted`);
    return;
  }
  const refusal = refusalOf(outcomes.find(({ ok }) => !ok));
  const [, spent] = /stopped after (\d+) ms of processor time/.exec(refusal) ?? [];
  assert.ok(Number(spent) >= 750 && Number(spent) <= 1_500, refusal);
});

test('costly: a query whose front has given up is dropped while it runs', async (context) => {
  const cluster = await startCluster(context, { queryCpuMs: 60_000, queryWaitMs: 400 });
  await writeInParts(cluster, longTexts(fewerRows));
  const before = statsOf(cluster).dropped;
  await assert.rejects(cluster.run(target, patterns(100)), /do not respond/);
  await until('it is dropped', () => statsOf(cluster).dropped > before);
  // Nothing blocks the shard: new items are found.
  await cluster.write(index, new Map([['late', { f: 'late', n: 3_000_000 }]]));
  const newest: Json = { sort: [{ field: 'n', order: 'desc' }], pagination: { pageSize: 1 } };
  let rows: readonly { originId: string }[] = [];
  const isAnswered = async () => {
    const [outcome] = await cluster.run(target, newest).catch(() => []);
    if (outcome?.ok) rows = readResult(outcome).rows;
    return rows.length > 0;
  };
  await until('it is asked in time', isAnswered);
  assert.equal(rows[0]?.originId, 'late');
});

test('costly: facets of large values count towards the size limit of a page, for any number of workers', async (context) => {
  const facets = (count: number) => ({
    facets: Array.from({ length: count }, () => ({ field: 'f' })),
    pagination: { pageSize: 0 },
  });
  for (const workers of [1, 2]) {
    // The machine may be busy.
    const layout = { partitions: 4, workers, queryCpuMs: 30_000 };
    const cluster = await TestCluster.start(redis, rude, layout, workers);
    context.after(() => cluster.stop());
    await cluster.write(index, new Map([['large', { f: 'v'.repeat(4_900_000), n: 1 }]]));
    await cluster.write(index, new Map([['small', { f: 'small', n: 2 }]]));
    const [good] = await cluster.run(target, facets(6));
    assert.ok(good?.ok, `${workers} workers`);
    assert.equal(readResult(good).facets[5]?.groups.length, 2);
    for (const count of [7, 40, 100]) {
      const [refused] = await cluster.run(target, facets(count));
      assert.match(
        refusalOf(refused),
        /^The facets and the page have more than 33554432 bytes together: use fewer/,
      );
    }
  }
});

test('costly: expensive queries with several rounds are answered one after the other, not all at the end', async (context) => {
  // The machine may be busy.
  const layout = { partitions: 6, workers: 3, queryCpuMs: 60_000, queryWaitMs: 60_000 };
  const cluster = await TestCluster.start(redis, rude, layout);
  context.after(() => cluster.stop());
  await writeInParts(cluster, longTexts(3_000));
  const filters = { or: [...conditionsOf(patterns(8)), { field: 'n', operator: 'lessThan', value: 1e6 }] };
  const query: Json = { distinct: 'n', filters, sort: [{ field: 'f' }], facets: [{ field: 'n' }] };
  const startedMs = performance.now();
  const waits = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const [outcome] = await cluster.run(target, query);
      assert.ok(outcome?.ok);
      return performance.now() - startedMs;
    }),
  );
  const [shortest, longest] = [Math.min(...waits), Math.max(...waits)];
  // Three rounds each: if each round of all queries ran before the next round, the first would end in the last third.
  assert.ok(shortest < 0.6 * longest, `they took from ${Math.round(shortest)} to ${Math.round(longest)} ms`);
});
