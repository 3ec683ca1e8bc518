import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import type {
  GoodOutcome,
  QueryRequest,
  QueryService,
  RowsResult,
} from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/worker/result-text.ts';
import { subjectKey } from '../../../src/store/derived/subjects.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys, testConfiguration } from '../support/site.ts';

const { digest } = testConfiguration();
const cache = new AnswerCache(1024 * 1024);
let runs = 0;
let outcome: Partial<GoodOutcome> = {};
/** Called while a query is under way. */
let meanwhile = () => {};

function outcomeOf({ target, labels }: QueryRequest): GoodOutcome {
  const text = resultText(runs, [], { facets: [], nextPageToken: null });
  return {
    ok: true,
    result: { kind: 'text', text },
    labels: labels ?? null,
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
  front = await startFront({ services: { query, cache } });
});
after(() => front.stop());
beforeEach(() => {
  runs = 0;
  outcome = {};
  meanwhile = () => {};
  cache.empty();
});

const ask = async (path: string, body: unknown = {}, headers = {}) => {
  const { json } = await front.call('POST', path, { key: apiKeys.client, body, headers });
  return json;
};
const totalOf = async (path: string, body: unknown = {}) => (await ask(path, body)).totalResults;
const group = (type: string) => `/v1/sourceGroupAlias/cms/type/${type}`;

test('a query that is asked again is answered without the workers until its index changes', async () => {
  assert.equal(await totalOf('/v1/things'), 1);
  assert.equal(await totalOf('/v1/things'), 1);
  cache.invalidate([subjectKey('others')]);
  assert.equal(await totalOf('/v1/things'), 1);
  cache.invalidate([subjectKey('things')]);
  assert.equal(await totalOf('/v1/things'), 2);
});

test('another body, index, group or type is another query', async () => {
  const totals = [
    await totalOf('/v1/things'),
    await totalOf('/v1/things', { a: 1 }),
    await totalOf('/v1/others'),
    await totalOf(group('things')),
    await totalOf(group('others')),
  ];
  assert.deepEqual(totals, [1, 2, 3, 4, 5]);
});

test('a multi-query hangs on each of its indexes', async () => {
  const body = ['a', 'b'].map((sourceEntityType) => ({ sourceGroupAlias: 'cms', sourceEntityType }));
  const totals = async () => (await ask('/v1/source', body))[1].totalResults;
  assert.deepEqual([await totals(), await totals()], [1, 1]);
  cache.invalidate([subjectKey('b')]);
  assert.equal(await totals(), 2);
});

test('an answer is not kept when its index changes while it is made', async () => {
  meanwhile = () => cache.invalidate([subjectKey('things')]);
  assert.deepEqual([await totalOf('/v1/things'), await totalOf('/v1/things')], [1, 2]);
});

const withViews: RowsResult = {
  kind: 'rows',
  totalResults: 0,
  rows: [],
  facets: [],
  nextPageToken: null,
  aliases: [],
};

test('an answer is not kept while workers follow another configuration, nor one with views', async () => {
  for (const given of [{ configuration: 'former' }, { configuration: null }, { result: withViews }]) {
    outcome = given;
    const before = runs;
    await ask('/v1/things', { given });
    await ask('/v1/things', { given });
    assert.equal(runs, before + 2);
  }
});

test('a query that asks for a version is run', async () => {
  await ask('/v1/things');
  const saved = await front.call('POST', '/ingest/v2/x', {
    key: apiKeys.source,
    headers: { 'X-Service-Type': 'page' },
    body: {},
  });
  const version = saved.headers.get('x-acme-version') ?? '';
  assert.notEqual(version, '');
  await ask('/v1/things', {}, { 'X-Acme-Min-Version': version });
  assert.equal(runs, 2);
});
