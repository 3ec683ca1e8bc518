import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { queryWaitMs } from '../../../src/contract/limits.ts';
import { UnavailableError } from '../../../src/query/query-service.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import {
  autoIndex,
  numbered,
  readResult,
  schemaIndex,
  startCluster,
  TestCluster,
  totalOf,
} from '../support/cluster.ts';
import { clientOf, environment, sourceId, tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const tenant = tenantOf({
  things: { name: 'keyword', title: 'text', size: 'integer' },
  others: { name: 'keyword', size: 'integer' },
});
const things = schemaIndex('things');

/** Until a query did not get a complete answer. */
async function untilRetried(cluster: TestCluster): Promise<void> {
  await until('the query is sent again', () => cluster.service.counters.retries > 0);
}

test('scatter: a query that meets a dying worker gets a complete answer from the new owner of its partitions', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2 });
  await cluster.write(things, numbered(50));
  const [survivor, victim] = cluster.workers;
  if (survivor === undefined || victim === undefined) throw new Error('two workers');
  await victim.kill();
  const answers = Promise.all([totalOf(cluster), totalOf(cluster), totalOf(cluster)]);
  await untilRetried(cluster);
  await victim.loseLeases();
  for (const partition of [1, 3]) await survivor.take(partition);
  survivor.beat();
  assert.deepEqual(await answers, [50, 50, 50]);
  assert.ok(cluster.service.counters.retries > 0);
});

test('scatter: without an owner of a partition there is no answer, never a partial one', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2, queryWaitMs });
  await cluster.write(things, numbered(50));
  await cluster.workers[1]?.release(3);
  const startedMs = performance.now();
  await assert.rejects(totalOf(cluster), UnavailableError);
  const tookMs = performance.now() - startedMs;
  assert.ok(tookMs > queryWaitMs - 500, `${tookMs} ms`);
  assert.equal(cluster.service.counters.unavailable, 1);
  assert.ok(cluster.service.counters.retries > 0);
  await cluster.workers[0]?.take(3);
  assert.equal(await totalOf(cluster), 50);
});

test('scatter: a partition that two workers answer for is counted once', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2 });
  await cluster.write(things, numbered(50));
  const [owner, former] = cluster.workers;
  if (owner === undefined || former === undefined) throw new Error('two workers');
  // It has partition 0 by an expired lease and has not noticed.
  const commits = owner.shards.held.applied(0) ?? 0;
  await former.shards.open(0, 0, commits);
  const own = former.covered;
  former.covered = () => new Map([...own(), [0, 0]]);
  const answer = totalOf(cluster);
  await untilRetried(cluster);
  former.shards.close(0);
  former.covered = own;
  assert.equal(await answer, 50);
});

test('scatter: a worker whose shards have more than it covers does not answer', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 2, workers: 2 });
  await cluster.write(things, numbered(50));
  const [first, second] = cluster.workers;
  if (first === undefined || second === undefined) throw new Error('two workers');
  await second.shards.open(0, 9, first.shards.held.applied(0) ?? 0);
  const looks = second.looks;
  const answer = totalOf(cluster);
  await until('the worker has seen the query', () => second.looks > looks);
  second.shards.close(0);
  assert.equal(await answer, 50);
});

test('scatter: a query waits for commits that its front has seen and a shard has not', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  const [worker] = cluster.workers;
  if (worker === undefined) throw new Error('one worker');
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const item = { sourceId, originId: 'late', updatedAtMs: 1, fields: { size: 1 } };
  const changes = [{ scope, index: things, sourceId, originId: 'late', item }];
  const number = await worker.commit(0, changes);
  await until('the front has seen it', () => cluster.progress.commits[0] === number);
  const looks = worker.looks;
  const answer = totalOf(cluster);
  await until('the worker has seen the query', () => worker.looks > looks);
  worker.shards.apply(0, number, changes);
  assert.equal(await answer, 1);
  assert.equal(cluster.service.counters.retries, 0);
});

test('scatter: all queries of a request are sent in one scatter', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2 });
  await cluster.write(things, numbered(20));
  const bodies: Json[] = [5, 10, 15, 20, 25].map((size) => ({
    filters: { and: [{ field: 'size', operator: 'lessThan', value: size }] },
  }));
  const outcomes = await cluster.run({ kind: 'index', alias: 'things' }, ...bodies);
  const totals = outcomes.map((outcome) => outcome.ok && readResult(outcome).totalResults);
  assert.deepEqual(totals, [5, 10, 15, 20, 20]);
  assert.equal(cluster.service.counters.scatters, 1);
});

test('scatter: a search with several workers takes one round if it finds few items, and two if it finds many', async (context) => {
  const titleOf = (size: number) => (size % 100 === 0 ? 'mill river' : 'river');
  const items = numbered(600, (size) => ({ size, name: `n${size % 3}`, title: titleOf(size) }));
  const searches: readonly JsonObject[] = [
    { search: { field: 'title', value: 'mill' }, facets: [{ field: 'name' }] },
    { search: { field: 'title', value: 'mull' }, sort: [{ field: 'size', order: 'desc' }] },
    {
      search: { field: 'title', value: 'river mill', mode: 'all', boost: [{ field: 'size', weight: 2 }] },
      pagination: { page: 1, pageSize: 4 },
    },
  ];
  const ask = async (cluster: TestCluster, body: JsonObject) => {
    const before = cluster.service.counters.scatters;
    const { totalResults, rows, facets } = await cluster.query('things', body);
    const texts = rows.map(({ text }) => text.toString());
    return { rounds: cluster.service.counters.scatters - before, answer: { totalResults, texts, facets } };
  };
  const alone = await TestCluster.start(redis, tenant, { partitions: 4, workers: 1 }, 1);
  context.after(() => alone.stop());
  const several = await startCluster(context, redis, tenant, { partitions: 4, workers: 3 });
  await Promise.all([alone, several].map((cluster) => cluster.write(things, items)));
  for (const body of searches) {
    const { rounds, answer } = await ask(several, body);
    assert.equal(answer.totalResults, 6);
    assert.deepEqual(answer, (await ask(alone, body)).answer);
    assert.equal(rounds, 1, JSON.stringify(body));
  }
  const { rounds, answer } = await ask(several, { search: { field: 'title', value: 'river' } });
  assert.deepEqual(answer, (await ask(alone, { search: { field: 'title', value: 'river' } })).answer);
  assert.equal(rounds, 2);
});

test('scatter: an invalid query reports every error of its own, and the other queries are answered', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  const bad = { sort: [{ field: 'nowhere' }], pagination: { pageSize: 1001 }, aliases: ['nothing'] };
  await cluster.write(things, numbered(3));
  const one = { filters: { and: [{ field: 'size', operator: 'equals', value: 1 }] } };
  const outcomes = await cluster.run({ kind: 'index', alias: 'things' }, {}, bad, one);
  const [, refused] = outcomes;
  assert.ok(refused?.ok === false && refused.status === 400 && refused.errors.length === 3);
  const totals = outcomes.map((outcome) => outcome.ok && readResult(outcome).totalResults);
  assert.deepEqual(totals, [3, false, 1]);
  assert.equal(cluster.service.counters.scatters, 1);
});

test('scatter: a query with an invalid target reports its other errors too', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  const target = { kind: 'auto', sourceGroup: '', type: '' } as const;
  const errors = ['sourceGroupAlias must be a string'];
  const bodies = [{ pagination: { pageSize: 1001 }, sort: 5 }, 7, {}];
  const requests = bodies.map((body) => ({ target, body, errors }));
  const outcomes = await cluster.service.run(clientOf(cluster.tenant), requests, { minVersion: null });
  assert.deepEqual(
    outcomes.map((outcome) => !outcome.ok && [outcome.status, outcome.errors.length, outcome.errors[0]]),
    [
      [400, 3, errors[0]],
      [400, 1, errors[0]],
      [400, 1, errors[0]],
    ],
  );
  assert.equal(cluster.service.counters.scatters, 0);
});

test('scatter: an unknown index, source group or entity type is not found, nor is a group that is not auto-indexed', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  const targets = [
    { kind: 'index', alias: 'nothing' },
    { kind: 'index', alias: '__proto__' },
    { kind: 'auto', sourceGroup: 'nothing', type: 'page' },
    { kind: 'auto', sourceGroup: 'quiet', type: 'page' },
    { kind: 'auto', sourceGroup: 'cms', type: 'page' },
  ] as const;
  for (const target of targets) {
    const [outcome] = await cluster.run(target, {});
    assert.ok(outcome?.ok === false && outcome.status === 404 && outcome.errors.length === 1);
  }
});

test('scatter: an auto-indexed type is found from its first item on, with every field added since', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2 });
  const target = { kind: 'auto', sourceGroup: 'cms', type: 'odd|ty:pe' } as const;
  const index = autoIndex(target.type);
  await cluster.write(
    index,
    numbered(10, (number) => ({ title: `page ${number}` })),
  );
  const search = { search: { field: 'title', value: 'paeg' } };
  const [found] = await cluster.run(target, search);
  assert.equal(found?.ok && readResult(found).totalResults, 10);
  await cluster.write(index, new Map([['item-3', { title: 'page', __extra: 7 }]]));
  const filters = { and: [{ field: '__extra', operator: 'greaterThan', value: 6 }] };
  const [filtered] = await cluster.run(target, { filters });
  assert.deepEqual(filtered?.ok && readResult(filtered).rows.map(({ originId }) => originId), ['item-3']);
});

test('scatter: the requested aliases and built-in fields are returned without duplicates', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  await cluster.write(things, new Map([['x', { name: 'n', _score: 5 } as JsonObject]]), 1234);
  const { rows, aliases, nextPageToken } = await cluster.query('things', { aliases: ['page', 'page'] });
  assert.deepEqual(aliases, ['page']);
  const builtIn = `"_originId":"x","_sourceGuid":"${sourceId}","_updatedAt":"1970-01-01T00:00:01.234Z","_score":0`;
  assert.deepEqual(
    rows.map(({ text }) => text.toString()),
    [`{${builtIn},"name":"n"}`],
  );
  assert.equal(nextPageToken, null);
});

test('scatter: an answer newer than what the front has received is held back until the front has caught up', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  const [worker] = cluster.workers;
  // As if the announcements of two commits were still in transit.
  worker?.shards.apply(0, 2, []);
  let isAnswered = false;
  const asked = cluster.query('things', {}).finally(() => {
    isAnswered = true;
  });
  await until('the worker has answered', () => worker?.responder.stats.answered === 1);
  await worker?.commit(0, []);
  await until('the first is received', () => cluster.progress.commits[0] === 1);
  assert.equal(isAnswered, false);
  await worker?.commit(0, []);
  await asked;
});

test('scatter: every full page has a token, and the page after the last item is empty', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 4, workers: 2 });
  await cluster.write(things, numbered(10));
  const page = async (nextPageToken: string | null, pageSize: number) =>
    cluster.query('things', { sort: [{ field: 'size' }], pagination: { page: 0, pageSize, nextPageToken } });
  const first = await page(null, 5);
  const second = await page(first.nextPageToken, 5);
  assert.equal(second.rows.length, 5);
  assert.equal(second.totalResults, 10);
  const third = await page(second.nextPageToken, 5);
  assert.deepEqual([third.rows, third.nextPageToken], [[], null]);
  const rest = await page(first.nextPageToken, 100);
  assert.deepEqual([rest.rows.length, rest.nextPageToken], [5, null]);
  assert.equal((await page(null, 0)).nextPageToken, null);
});

test('scatter: a token that is used with another query is rejected', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 1, workers: 1 });
  await cluster.write(things, numbered(10));
  const sort: Json = [{ field: 'size' }];
  const { nextPageToken } = await cluster.query('things', { sort, pagination: { pageSize: 2 } });
  const pagination: Json = { nextPageToken, pageSize: 2 };
  const filters = { and: [{ field: 'size', operator: 'lessThan', value: 99 }] };
  const misuses: [string, Json][] = [
    ['others', { sort, pagination }],
    ['things', { pagination }],
    ['things', { sort, filters, pagination }],
    ['things', { sort, search: { field: 'title', value: 'x' }, pagination }],
    ['things', { sort, pagination: { nextPageToken: `${nextPageToken}A` } }],
    ['things', { sort, pagination: { nextPageToken: '' } }],
  ];
  for (const [alias, body] of misuses) {
    const [outcome] = await cluster.run({ kind: 'index', alias }, body);
    assert.deepEqual(outcome, { ok: false, status: 400, errors: ['Invalid nextPageToken'] });
  }
  const stranger = clientOf({ ...tenant, alias: 'stranger' });
  const request = { target: { kind: 'index', alias: 'things' }, body: { sort, pagination } } as const;
  const [outcome] = await cluster.service.run(stranger, [request], { minVersion: null });
  assert.deepEqual(outcome, { ok: false, status: 400, errors: ['Invalid nextPageToken'] });
});

test('scatter: token paging neither skips nor repeats stable items while others come and go', async (context) => {
  const cluster = await startCluster(context, redis, tenant, { partitions: 16, workers: 3 });
  const staying = numbered(400, (number) => ({ size: number % 7, name: `n${number % 5}` }));
  await cluster.write(things, staying);
  const seen: string[] = [];
  let token: string | null = null;
  let round = 0;
  do {
    const body: Json = {
      sort: [{ field: 'size', order: 'desc' }, { field: 'name' }],
      pagination: { pageSize: 23, nextPageToken: token },
    };
    const { rows, nextPageToken } = await cluster.query('things', body);
    seen.push(...rows.map(({ originId }) => originId));
    token = nextPageToken;
    const coming = Array.from({ length: 15 }, (_, number) => [
      `guest-${round}-${number}`,
      { size: number % 7, name: `n${number % 3}` },
    ]);
    const going = Array.from({ length: 15 }, (_, number) => [`guest-${round - 1}-${number}`, null]);
    await cluster.write(things, new Map<string, JsonObject | null>([...coming, ...going] as never));
    round += 1;
  } while (token !== null);
  const stayed = seen.filter((originId) => originId.startsWith('item-'));
  assert.deepEqual(stayed.sort(), [...staying.keys()].sort());
  assert.equal(new Set(seen).size, seen.length);
});

test('scatter: offset pages of any depth are the same for one worker and for several', async (context) => {
  const items = numbered(300, (number) => ({ size: number % 11 }));
  const pagesOf = async (cluster: TestCluster) => {
    await cluster.write(things, items);
    const pages = [0, 3, 7, 8].map((page) =>
      cluster.query('things', { sort: [{ field: 'size' }], pagination: { page, pageSize: 37 } }),
    );
    return (await Promise.all(pages)).map(({ rows }) => rows);
  };
  const alone = await TestCluster.start(redis, tenant, { partitions: 4, workers: 1 }, 1);
  context.after(() => alone.stop());
  const several = await startCluster(context, redis, tenant, { partitions: 4, workers: 3 });
  assert.deepEqual(await pagesOf(alone), await pagesOf(several));
});

test('scatter: pages of large items are the same for one worker and for several', async (context) => {
  const items = numbered(120, (size) => ({ size, name: 'n', title: `${size} `.repeat(12_000) }));
  const pagesOf = async (cluster: TestCluster) => {
    await cluster.write(things, items);
    const pages = [0, 1, 2, 3].map((page) =>
      cluster.query('things', { sort: [{ field: 'size' }], pagination: { page, pageSize: 35 } }),
    );
    return (await Promise.all(pages)).map(({ rows }) => rows);
  };
  const alone = await TestCluster.start(redis, tenant, { partitions: 4, workers: 1 }, 1);
  context.after(() => alone.stop());
  const several = await startCluster(context, redis, tenant, { partitions: 4, workers: 3 });
  assert.deepEqual(await pagesOf(several), await pagesOf(alone));
  assert.ok(several.service.counters.scatters > 4, 'texts were requested');
  assert.equal(alone.service.counters.scatters, 4);
});

test('scatter: a page of large items is consistent while they change', async (context) => {
  // Front, workers and writer share one event loop here, and the writer never pauses.
  const cluster = await startCluster(context, redis, tenant, {
    partitions: 4,
    workers: 3,
    queryWaitMs: 20_000,
  });
  const large = (size: number) => ({ size, title: `${size} `.repeat(12_000) });
  await cluster.write(things, numbered(120, large));
  let isDone = false;
  const asking = (async () => {
    for (let round = 0; round < 10; round += 1) {
      const body: Json = { sort: [{ field: 'size' }], pagination: { page: 1, pageSize: 50 } };
      const { rows } = await cluster.query('things', body);
      assert.equal(rows.length, 50);
      for (const { text } of rows) assert.ok(text.length > 20_000);
    }
  })().finally(() => {
    isDone = true;
  });
  for (let round = 0; !isDone; round += 1) {
    const [coming, going] = [`guest-${round}`, `guest-${round - 1}`];
    await cluster.write(
      things,
      new Map<string, JsonObject | null>([
        [coming, large(60)],
        [going, null],
      ]),
    );
  }
  await asking;
});

test('scatter: a page too large for any process is rejected with a hint', async (context) => {
  for (const workers of [1, 2]) {
    const cluster = await TestCluster.start(redis, tenant, { partitions: 4, workers }, workers);
    context.after(() => cluster.stop());
    await cluster.write(
      things,
      numbered(40, (size) => ({ size, name: 'n'.repeat(1_000_000) })),
    );
    const query = (body: Json) => cluster.run({ kind: 'index', alias: 'things' }, body);
    for (const body of [
      { pagination: { pageSize: 40 } },
      { sort: [{ field: 'name' }], pagination: { pageSize: 40 } },
    ]) {
      const [refused] = await query(body);
      assert.ok(refused?.ok === false && refused.status === 400, `${workers} workers`);
      assert.match(refused.errors.join(), /smaller pageSize/);
    }
    const [good] = await query({ pagination: { pageSize: 20 } });
    assert.equal(good?.ok && readResult(good).rows.length, 20);
  }
});
