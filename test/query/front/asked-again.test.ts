import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { sealToken } from '../../../src/query/front/token.ts';
import { encodeAsks } from '../../../src/query/protocol/wire.ts';
import type { QueryTarget } from '../../../src/query/types.ts';
import { KnownAsks } from '../../../src/query/worker/known-asks.ts';
import { queryIdentity } from '../../../src/search/check/query.ts';
import type { CheckedQuery } from '../../../src/search/types.ts';
import { TestRedis } from '../../support/redis.ts';
import { autoIndex, readResult, schemaIndex, TestCluster } from '../support/cluster.ts';
import { clientOf, tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const tenant = tenantOf({ things: { size: 'integer' } });

async function startCluster(context: TestContext): Promise<TestCluster> {
  const cluster = await TestCluster.start(redis, tenant, { partitions: 2, workers: 1 });
  context.after(() => cluster.stop());
  return cluster;
}

/** Asks again and again as one client, and counts how often the query was read. */
function asker(cluster: TestCluster, target: QueryTarget, body: Json) {
  const client = clientOf(tenant);
  let reads = 0;
  const read = () => {
    reads += 1;
    return [{ target, body }];
  };
  return async (): Promise<{ total: number | null; reads: number }> => {
    const [outcome] = await cluster.service.run(client, { key: 'text', read }, { minVersion: null });
    return { total: outcome?.ok ? readResult(outcome).totalResults : null, reads };
  };
}

test('a query of an index that is asked again is not read again, and answered anew', async (context) => {
  const cluster = await startCluster(context);
  const ask = asker(cluster, { kind: 'index', alias: 'things' }, {});
  await cluster.write(schemaIndex('things'), new Map([['a', { size: 1 }]]));
  assert.deepEqual(await ask(), { total: 1, reads: 1 });
  await cluster.write(schemaIndex('things'), new Map([['b', { size: 2 }]]));
  assert.deepEqual(await ask(), { total: 2, reads: 1 });
});

test('a query of a source group is read again once something changed, for its fields may have', async (context) => {
  const cluster = await startCluster(context);
  const filters = { and: [{ field: 'later', operator: 'equals', value: 'x' }] };
  const ask = asker(cluster, { kind: 'auto', sourceGroup: 'cms', type: 'note' }, { filters });
  await cluster.write(autoIndex('note'), new Map<string, JsonObject>([['a', { first: 'x' }]]));
  const before = await ask();
  assert.equal((await ask()).reads, before.reads + (before.total === null ? 1 : 0));
  await cluster.write(autoIndex('note'), new Map<string, JsonObject>([['b', { later: 'x' }]]));
  const after = await ask();
  assert.equal(after.total, 1);
  assert.ok(after.reads > before.reads);
});

test('several queries that are asked again are not read again, and each is answered with its labels', async (context) => {
  const cluster = await startCluster(context);
  await cluster.write(schemaIndex('things'), new Map([['a', { size: 1 }]]));
  const client = clientOf(tenant);
  let reads = 0;
  const read = () => {
    reads += 1;
    const target = { kind: 'index', alias: 'things' } as const;
    const filters = { and: [{ field: 'size', operator: 'greaterThan', value: 1 }] };
    return [
      { target, body: {}, labels: '{"name":"all"}' },
      { target, body: { filters }, labels: '{"name":"large"}' },
    ];
  };
  const ask = async () => {
    const outcomes = await cluster.service.run(client, { key: 'several', read }, { minVersion: null });
    return outcomes.map((outcome) =>
      outcome.ok ? [outcome.labels, readResult(outcome).totalResults] : null,
    );
  };
  const expected = [
    ['{"name":"all"}', 1],
    ['{"name":"large"}', 0],
  ];
  assert.deepEqual([await ask(), await ask()], [expected, expected]);
  assert.equal(reads, 1);
});

test('a query that is refused is read each time', async (context) => {
  const ask = asker(await startCluster(context), { kind: 'index', alias: 'nothing' }, {});
  assert.deepEqual(await ask(), { total: null, reads: 1 });
  assert.deepEqual(await ask(), { total: null, reads: 2 });
});

test('a query that is none is refused at once, and does not wait for a version first', async (context) => {
  const { service } = await startCluster(context);
  const mistake = new Error('no query');
  const asked = {
    key: 'broken',
    read(): never {
      throw mistake;
    },
  };
  const later = new Map([[0, Number.MAX_SAFE_INTEGER]]);
  await assert.rejects(service.run(clientOf(tenant), asked, { minVersion: later }), mistake);
});

test('what a worker was asked before is read once, and its tokens are those of its query', () => {
  const secret = randomBytes(32);
  const index = { scope: { tenant: 'acme', environmentId: 'env' }, index: 'schema:pages' };
  const query: CheckedQuery = {
    filter: null,
    search: null,
    facets: [],
    sort: [{ field: 'size', order: 'asc' }],
    offset: 0,
    pageSize: 1,
    after: null,
  };
  const known = new KnownAsks(secret);
  const asks = encodeAsks([{ ...index, ask: { kind: 'answer', query, isText: true } }]);
  const [first] = known.read(asks);
  assert.equal(known.read(asks)[0], first);
  const use = { ...index, identity: queryIdentity(query) };
  for (const originId of ['a', 'a', 'b', 'a']) {
    const place = { values: [originId.length], originId, sourceId: 's' };
    assert.equal(first?.seal(place), sealToken(secret, use, place));
  }
});
