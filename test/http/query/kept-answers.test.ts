import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import type { RowViews } from '../../../src/http/cache/finished-answer.ts';
import type {
  GoodOutcome,
  QueryOutcome,
  QueryRequest,
  QueryService,
  RowsResult,
} from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/result/result-text.ts';
import { subjectKey, viewSubject } from '../../../src/store/derived/subjects.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putView } from '../support/seed.ts';
import { apiKeys, environmentId, sourceId, testConfiguration } from '../support/site.ts';

const { digest } = testConfiguration();
const cache = new AnswerCache(1024 * 1024);
const rowViews = new AnswerCache<RowViews>(1024 * 1024);
let runs = 0;
let turn = 0;
let outcome: Partial<GoodOutcome> = {};
/** Called while a query is in progress. */
let meanwhile = () => {};

function outcomeOf({ target, errors = [] }: QueryRequest): QueryOutcome {
  if (errors.length > 0) return { ok: false, status: 400, errors };
  const text = resultText(runs, [], { facets: [], nextPageToken: null });
  return {
    ok: true,
    result: { kind: 'text', text },
    subject: target.kind === 'index' ? target.alias : target.type,
    configuration: digest,
    ...outcome,
  };
}

const query: QueryService = {
  run: async (_, requests) => {
    runs += 1;
    meanwhile();
    return requests.map(outcomeOf);
  },
};

let front: TestFront;
before(async () => {
  front = await startFront({ services: { query, cache, rowViews } });
});
after(() => front.stop());
beforeEach(() => {
  turn += 1;
  runs = 0;
  outcome = {};
  meanwhile = () => {};
  cache.empty();
});

/** Each test has its own queries, because the cache remembers earlier ones. */
const ask = async (path: string, query: unknown = {}, headers = {}) => {
  const body = Array.isArray(query) ? query : { ...Object(query), turn };
  const { json } = await front.call('POST', path, { key: apiKeys.client, body, headers });
  return json;
};
const totalOf = async (path: string, body: unknown = {}) => (await ask(path, body)).totalResults;
const group = (type: string) => `/v1/sourceGroupAlias/cms/type/${type}`;

test('cached answers: the third request of a query is answered without the workers until its index changes', async () => {
  assert.equal(await totalOf('/v1/things'), 1);
  assert.equal(await totalOf('/v1/things'), 2);
  assert.equal(await totalOf('/v1/things'), 2);
  cache.invalidate([subjectKey('others')]);
  assert.equal(await totalOf('/v1/things'), 2);
  cache.invalidate([subjectKey('things')]);
  assert.equal(await totalOf('/v1/things'), 3);
  assert.equal(await totalOf('/v1/things'), 3);
});

test('cached answers: another body, index, group or type is another query', async () => {
  const queries = [
    ['/v1/things', {}],
    ['/v1/things', { a: 1 }],
    ['/v1/others', {}],
    [group('things'), {}],
    [group('others'), {}],
  ] as const;
  for (let time = 0; time < 2; time += 1) for (const [path, body] of queries) await totalOf(path, body);
  const totals: number[] = [];
  for (const [path, body] of queries) totals.push(await totalOf(path, body));
  assert.deepEqual(totals, [6, 7, 8, 9, 10]);
});

test('cached answers: a multi-query depends on each of its indexes', async () => {
  const body = ['a', 'b'].map((sourceEntityType) => ({ sourceGroupAlias: 'cms', sourceEntityType }));
  const totals = async () => (await ask('/v1/source', body))[1].totalResults;
  assert.deepEqual([await totals(), await totals(), await totals()], [1, 2, 2]);
  cache.invalidate([subjectKey('b')]);
  assert.equal(await totals(), 3);
});

test('cached answers: the same list of queries is different over indexes and over source groups', async () => {
  const body = [{ index: 'things', sourceGroupAlias: 'cms', sourceEntityType: 'things', turn }];
  const totals = async (path: string) => (await ask(path, body))[0].totalResults;
  for (let time = 0; time < 2; time += 1) for (const path of ['/v1/source', '/v1']) await totals(path);
  assert.deepEqual([await totals('/v1/source'), await totals('/v1'), await totals('/v1/')], [3, 4, 4]);
});

test('cached answers: an answer with an error is not cached', async () => {
  const body = [{ index: 'things', turn }, { index: 5 }];
  for (let time = 0; time < 3; time += 1) await ask('/v1', body);
  assert.equal(runs, 3);
});

test('cached answers: an answer is not cached if its index changes while it is computed', async () => {
  meanwhile = () => cache.invalidate([subjectKey('things')]);
  const totals = [];
  for (let time = 0; time < 3; time += 1) totals.push(await totalOf('/v1/things'));
  assert.deepEqual(totals, [1, 2, 3]);
});

const withViews: RowsResult = {
  kind: 'rows',
  totalResults: 1,
  rows: [{ sourceId, originId: 'a', text: Buffer.from('{"_originId":"a"}') }],
  facets: [],
  nextPageToken: null,
  aliases: ['page'],
};
const viewOf = (originId: string) =>
  subjectKey(viewSubject({ tenant: 'one', environmentId }, { sourceId, alias: 'page', originId }));

test('cached answers: an answer with views is cached until a view that it shows or misses changes', async () => {
  outcome = { result: withViews };
  await putView(front.store, 'a', 'A', { other: 'b' });
  const shown = async () => {
    const { results } = await ask('/v1/things');
    return results[0]._views.page;
  };
  for (let time = 0; time < 3; time += 1) assert.deepEqual(await shown(), { title: 'A', other: null });
  assert.equal(runs, 2);
  for (const [changed, title, other] of [
    ['b', 'B', { title: 'B' }],
    ['a', 'A2', { title: 'B' }],
  ] as const) {
    await putView(front.store, changed, title, changed === 'a' ? { other: 'b' } : {});
    for (const one of [cache, rowViews]) one.invalidate([viewOf(changed)]);
    assert.deepEqual(await shown(), { title: changed === 'a' ? title : 'A', other });
  }
});

test('cached answers: views of rows are cached for other lists that show them', async () => {
  await putView(front.store, 'a', 'A');
  const shown = async (aliases: readonly string[], more: object) => {
    outcome = { result: { ...withViews, aliases } };
    const { results } = await ask('/v1/things', more);
    return results[0]._views;
  };
  rowViews.empty();
  assert.deepEqual(await shown(['page'], { first: 1 }), { page: { title: 'A' } });
  // It is not announced yet.
  await putView(front.store, 'a', 'B');
  assert.deepEqual(await shown(['page'], { second: 1 }), { page: { title: 'A' } });
  assert.deepEqual(await shown(['page', 'none'], { third: 1 }), { page: { title: 'B' }, none: null });
});

test('cached answers: an answer is not cached while workers use another configuration', async () => {
  for (const given of [{ configuration: 'former' }, { configuration: null }]) {
    outcome = given;
    const before = runs;
    for (let time = 0; time < 3; time += 1) await ask('/v1/things', { given });
    assert.equal(runs, before + 3);
  }
});

test('cached answers: a query that requests a version is executed', async () => {
  for (let time = 0; time < 3; time += 1) await ask('/v1/things');
  assert.equal(runs, 2);
  const saved = await front.call('POST', '/ingest/v2/x', {
    key: apiKeys.source,
    headers: { 'X-Service-Type': 'page' },
    body: {},
  });
  const version = saved.headers.get('x-acme-version') ?? '';
  assert.notEqual(version, '');
  await ask('/v1/things', {}, { 'X-Acme-Min-Version': version });
  assert.equal(runs, 3);
});
