import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freeAnswerBytesMax, largeAnswersWaitingMax } from '../../../src/contract/limits.ts';
import {
  type GoodOutcome,
  type QueryOutcome,
  type QueryRequest,
  type QueryService,
  UnavailableError,
} from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/result/result-text.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putView } from '../support/seed.ts';
import { apiKeys, environmentId, sourceId, testConfiguration } from '../support/site.ts';

function rowOf(originId: string, fields: object): Buffer {
  return Buffer.from(JSON.stringify({ _originId: originId, _sourceGuid: sourceId, ...fields }));
}

const rows = [
  { sourceId, originId: 'a', text: rowOf('a', { x: 1 }) },
  { sourceId, originId: 'b', text: rowOf('b', {}) },
];
const tail = { facets: [], nextPageToken: 'next' };
const texts = rows.map(({ text }) => text);
const good: GoodOutcome = {
  ok: true,
  result: {
    kind: 'text',
    text: resultText(
      2,
      texts.map((text) => [text]),
      tail,
    ),
  },
  subject: 'items',
  configuration: null,
};
const withViews: GoodOutcome = {
  ...good,
  result: { kind: 'rows', totalResults: 2, rows, ...tail, aliases: ['page', 'other'] },
};
const largeRow = { sourceId, originId: 'large', text: rowOf('large', {}) };
const withLargeView: GoodOutcome = {
  ...good,
  result: { kind: 'rows', totalResults: 1, rows: [largeRow], ...tail, aliases: ['page'] },
};

/** A fake query service: each query names the outcome that it gets, so that only the HTTP layer is tested. */
function outcomeOf({ body, errors = [] }: QueryRequest): QueryOutcome {
  if (errors.length > 0) return { ok: false, status: 400, errors };
  const { outcome } = body as { outcome?: string };
  if (outcome === 'bad') return { ok: false, status: 400, errors: ['first', 'second'] };
  if (outcome === 'unknown') return { ok: false, status: 404, errors: ['no such index'] };
  if (outcome === 'later') throw new UnavailableError('no response');
  if (outcome === 'forbidden') return { ok: false, status: 403, errors: ['Forbidden'] };
  if (outcome === 'large') return withLargeView;
  return outcome === 'views' ? withViews : good;
}

const configuration = testConfiguration();
let runs = 0;
let front: TestFront;
before(async () => {
  const query: QueryService = {
    run: async (_, requests) => {
      runs += 1;
      return requests.map(outcomeOf);
    },
  };
  front = await startFront({
    services: { query, configuration: { loaded: true, current: configuration, layouts: LayoutStates.none } },
  });
  await putView(front.store, 'a', 'A', { other: 'none' });
  await putView(front.store, 'large', 'x'.repeat(2 * freeAnswerBytesMax));
});
after(() => front.stop());

const key = apiKeys.client;
const post = (path: string, body: unknown) => front.call('POST', path, { key, body });
const rowA = { _originId: 'a', _sourceGuid: sourceId };

test('query: an index returns its rows, and views if aliases request them', async () => {
  const { status, json } = await post('/v1/things', {});
  assert.equal(status, 200);
  assert.deepEqual(json, {
    status: 0,
    totalResults: 2,
    results: [
      { ...rowA, x: 1 },
      { ...rowA, _originId: 'b' },
    ],
    facets: [],
    nextPageToken: 'next',
  });
  const views = (await post('/v1/things', { outcome: 'views' })).json.results;
  assert.deepEqual(views[0]._views, { page: { title: 'A', other: null }, other: null });
  assert.deepEqual(views[1]._views, { page: null, other: null });
  const id = `gid://Environment/${environmentId}/Source/${sourceId}/Entity/a/View/page`;
  assert.deepEqual([views[0]._viewIds, views[1]._viewIds], [[id], []]);
});

test('query: a source group is queried like an index', async () => {
  const { json, headers } = await post('/v1/sourceGroupAlias/cms/type/a%2Fb', {});
  assert.deepEqual(json.results[0], { ...rowA, x: 1 });
  assert.equal(headers.get('cache-control'), 'no-store', 'the response belongs to the key');
});

test('query: a multi-query returns a result for each query, in order', async () => {
  const queries = [
    { sourceGroupAlias: 'cms', sourceEntityType: 'a', name: 'one' },
    { sourceGroupAlias: 'cms', sourceEntityType: 'b' },
  ];
  const { status, json } = await post('/v1/source', queries);
  assert.equal(status, 200);
  assert.deepEqual(
    json.map(
      ({ status: one, sourceGroupAlias, sourceEntityType, name, totalResults }: Record<string, unknown>) => [
        one,
        sourceGroupAlias,
        sourceEntityType,
        name,
        totalResults,
      ],
    ),
    [
      [0, 'cms', 'a', 'one', 2],
      [0, 'cms', 'b', null, 2],
    ],
  );
  assert.deepEqual((await post('/v1/source', [])).json, []);
});

test('query: all errors are reported, with 400 or 404; a multi-query reports them per query, with its name', async () => {
  const bad = await post('/v1/things', { outcome: 'bad' });
  assert.deepEqual(
    [bad.status, bad.json],
    [
      400,
      {
        message: 'Query is not valid',
        errors: ['first', 'second'],
        status: 400,
        code: 'queryInvalid',
      },
    ],
  );
  assert.equal((await post('/v1/things', { outcome: 'unknown' })).status, 404);
  const query = { sourceGroupAlias: 'cms', sourceEntityType: 'a', name: 'q' };
  const multi = await post('/v1/source', [query, { ...query, outcome: 'unknown' }]);
  assert.deepEqual(
    [multi.status, multi.json[0].totalResults, multi.json[1]],
    [
      200,
      2,
      {
        ...query,
        message: 'Query is not valid',
        errors: ['no such index'],
        status: 404,
      },
    ],
  );
  const invalid = await post('/v1/source', [
    { name: 'n', sourceEntityType: 5 },
    7,
    { ...query, outcome: 'bad' },
  ]);
  assert.equal(invalid.status, 400);
  assert.deepEqual(
    invalid.json.map(({ name, errors }: { name: unknown; errors: unknown[] }) => [name, errors.length]),
    [
      ['n', 2],
      [null, 1],
      ['q', 2],
    ],
  );
  for (const body of ['', '{', [], 5, '{"a":1e999}']) {
    const { status, json } = await post('/v1/things', body);
    assert.deepEqual([status, json.status, json.message], [400, 400, 'Query is not valid']);
  }
  for (const body of ['{', {}, Array.from({ length: 6 }, () => query)]) {
    const { status, json } = await post('/v1/source', body);
    assert.deepEqual([status, json[0].status], [400, 400]);
  }
});

test('query: an index that the client may not query is a 403; in a multi-query, only for that query', async () => {
  const alone = await post('/v1/things', { outcome: 'forbidden' });
  assert.deepEqual([alone.status, alone.json], [403, { error: 'Forbidden', code: 'indexForbidden' }]);
  const queries = [{ index: 'a' }, { index: 'b', name: 'n', outcome: 'forbidden' }];
  const problem = {
    name: 'n',
    index: 'b',
    message: 'Forbidden',
    errors: ['Forbidden'],
    status: 403,
  };
  const { status, json } = await post('/v1', queries);
  assert.deepEqual([status, json[0].index, json[0].status, json[1]], [200, 'a', 0, problem]);
  const none = await post('/v1', queries.slice(1));
  assert.deepEqual([none.status, none.json], [400, [problem]]);
});

test('query: a timeout is a 503 with Retry-After', async () => {
  const { status, headers } = await post('/v1/things', { outcome: 'later' });
  assert.equal(status, 503);
  assert.ok(headers.get('retry-after'));
});

test('query: too many large responses are a 503 with Retry-After, not an error of the query', async () => {
  const client = configuration.authenticate(key);
  const turns = Array.from({ length: 1 + largeAnswersWaitingMax }, () => front.largeAnswers.turn(client));
  const answers = [
    await post('/v1/things', { outcome: 'large' }),
    await post('/v1', [{ index: 'things', outcome: 'large' }]),
  ];
  for (const turn of turns) (await turn)();
  for (const { status, json, headers } of answers) {
    assert.deepEqual([status, Object.keys(json)], [503, ['error', 'code', 'requestId']]);
    assert.ok(headers.get('retry-after'));
  }
  assert.equal((await post('/v1/things', { outcome: 'large' })).status, 200);
});

test('query: malformed JSON is rejected without calling the query service', async () => {
  runs = 0;
  for (const path of ['/v1/things', '/v1/source']) assert.equal((await post(path, '{')).status, 400);
  assert.equal(runs, 0);
  await post('/v1/things', {});
  assert.equal(runs, 1);
});
