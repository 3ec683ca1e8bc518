/**
 * docs/reference/indexes-and-queries.md line by line, over HTTP: the result of each condition, search, sort and page over a few
 * items.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { naiveScorer } from '../../search/support/naive-search.ts';
import type { Answer } from '../support/client.ts';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';
import { clientKey, sourceId } from '../support/site.ts';

const fieldTypes = {
  kw: 'keyword',
  kws: 'keyword[]',
  tx: 'text',
  txs: 'text[]',
  int: 'integer',
  ints: 'integer[]',
  lng: 'long',
  dbl: 'double',
  boo: 'boolean',
  boos: 'boolean[]',
  dat: 'date',
  dats: 'date[]',
  ir: 'integerRange',
  lr: 'longRange',
  dr: 'doubleRange',
  dtr: 'dateRange',
  obj: 'object',
};

const things: Readonly<Record<string, JsonObject>> = {
  a: {
    kw: 'Alpha',
    kws: ['x', 'Y', 'z*'],
    tx: 'The quick brown Fox',
    txs: ['hello world', 'good bye'],
    int: 5,
    ints: [1, 2, 3],
    lng: '9007199254740993',
    dbl: 0.1,
    boo: true,
    boos: [true, false],
    dat: '2024-05-01',
    dats: ['2024-01-01', '2024-06-01T00:00:00+02:00'],
    ir: { gte: 1, lt: 5 },
    lr: { gt: '9007199254740992' },
    dr: { gt: 0, lt: 1 },
    dtr: { gte: '2024-01-01', lte: '2024-12-31' },
    obj: { a: 1 },
  },
  b: {
    kw: 'alpha',
    kws: ['y'],
    tx: 'straße ÉCOLE naïve',
    txs: ['wrold'],
    int: -5,
    ints: [],
    lng: 9007199254740992,
    dbl: 0,
    boo: false,
    dat: 1714521600000,
    ir: { gt: 5 },
    dr: { gte: 1 },
  },
  // Values that do not match the type of their field are left out; the item stays.
  c: { kw: '*', tx: 'a*b', kws: ['*'], int: '5', lng: '12x', boo: 'true', dat: 'yesterday', ir: { x: 1 } },
  d: {},
  E: { kw: '\u{1F600}', tx: 'ﬁsh ２３ Σίσυφος' },
};

const card = { triggers: { cms: ['thing'] }, properties: { kw: '{p.kw}' } };
const tenant = new QueryTenant(
  'contract',
  { schemas: { card }, indexes: { things: indexOfTypes(fieldTypes) } },
  things,
);
const ask = (body: Json, path?: string): Promise<Answer> => tenant.ask(body, path);

/** The originIds of the results, joined into one string. */
async function found(body: JsonObject): Promise<string> {
  const { status, json, text } = await ask(body);
  assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
  const ids = json.results.map(({ _originId }: JsonObject) => _originId);
  assert.equal(json.totalResults, ids.length);
  return ids.join(' ');
}

type Condition = readonly [field: string, operator: string, value: Json, found: string];

async function checkConditions(conditions: readonly Condition[], more: JsonObject = {}): Promise<void> {
  for (const [field, operator, value, expected] of conditions) {
    const filters = { and: [{ field, operator, value, ...more }] };
    const about = JSON.stringify([field, operator, value]);
    assert.equal(await found({ filters, sort: [{ field: '_originId' }] }), expected, about);
  }
}

test('query contract: equals, notEquals and in compare whole values of the type; null means absent', async () => {
  await checkConditions([
    ['kw', 'equals', 'alpha', 'b'],
    ['kw', 'equals', 'ALPHA', ''],
    ['kw', 'notEquals', 'alpha', 'E a c d'],
    ['kw', 'equals', null, 'd'],
    ['kw', 'notEquals', null, 'E a b c'],
    ['kw', 'in', ['alpha', null], 'b d'],
    ['kw', 'in', [], ''],
    ['kw', 'equals', '\u{1F600}', 'E'],
    ['tx', 'equals', 'a*b', 'c'],
    ['kws', 'equals', 'y', 'b'],
    ['kws', 'notEquals', 'y', 'E a c d'],
    ['int', 'equals', 5, 'a'],
    ['int', 'equals', '5', 'a'],
    ['int', 'notEquals', 5, 'E b c d'],
    ['lng', 'equals', '9007199254740993', 'a'],
    ['lng', 'equals', 9007199254740992, 'b'],
    ['boo', 'equals', true, 'a'],
    ['boo', 'equals', 'true', 'a'],
    ['dat', 'equals', '2024-05-01T02:00:00+02:00', 'a b'],
    ['dat', 'equals', 1714521600000, 'a b'],
    ['obj', 'equals', null, 'E b c d'],
    ['obj', 'notEquals', null, 'a'],
    ['_originId', 'in', ['a', 'E'], 'E a'],
    ['_sourceGuid', 'equals', sourceId, 'E a b c d'],
    ['_updatedAt', 'greaterThan', '2020-01-01', 'E a b c d'],
    ['_updatedAt', 'equals', null, ''],
  ]);
});

test('query contract: contains matches the whole value, with * as the only wildcard; lists by their items', async () => {
  await checkConditions([
    ['kw', 'contains', '*l*', 'a b'],
    ['kw', 'contains', 'alph', ''],
    ['kw', 'contains', '*', 'E a b c'],
    ['kw', 'contains', '', ''],
    ['tx', 'contains', '*quick*', 'a'],
    ['tx', 'contains', 'quick', ''],
    ['kws', 'contains', 'x', 'a'],
    ['kws', 'contains', 'X', ''],
    ['txs', 'contains', 'hello*', 'a'],
    ['ints', 'contains', 2, 'a'],
    ['boos', 'contains', true, 'a'],
    ['dats', 'contains', '2024-05-31T22:00:00Z', 'a'],
  ]);
});

test('query contract: caseInsensitive compares after lower-casing', async () => {
  const conditions: Condition[] = [
    ['kw', 'equals', 'ALPHA', 'a b'],
    ['kw', 'notEquals', 'ALPHA', 'E c d'],
    ['kw', 'in', ['ALPHA'], 'a b'],
    ['kw', 'contains', 'A*A', 'a b'],
    ['kws', 'contains', 'Z*', 'a'],
    ['tx', 'equals', 'STRASSE école NAÏVE', ''],
    ['tx', 'equals', 'STRAßE école NAÏVE', 'b'],
    ['int', 'equals', 5, 'a'],
  ];
  await checkConditions(conditions, { caseInsensitive: true });
});

test('query contract: ordering operators compare numbers, dates and ranges; a range contains its values', async () => {
  await checkConditions([
    ['int', 'greaterThan', -6, 'a b'],
    ['int', 'greaterThanOrEquals', 5, 'a'],
    ['lng', 'greaterThan', '9007199254740992', 'a'],
    ['dbl', 'lessThanOrEquals', 0, 'b'],
    ['dat', 'greaterThan', '2024-04-30', 'a b'],
    ['dats', 'greaterThan', '2024-05-31', 'a'],
    ['ir', 'equals', 1, 'a'],
    ['ir', 'equals', 5, ''],
    ['ir', 'in', [1, 6], 'a b'],
    ['ir', 'notEquals', 1, 'E b c d'],
    ['ir', 'notEquals', null, 'a b'],
    ['ir', 'greaterThan', 4, 'b'],
    ['ir', 'greaterThanOrEquals', 4, 'a b'],
    ['ir', 'lessThan', 1, ''],
    ['ir', 'lessThanOrEquals', 1, 'a'],
    ['lr', 'equals', '9007199254740993', 'a'],
    ['lr', 'equals', '9007199254740992', ''],
    ['dr', 'greaterThan', 0.99, 'a b'],
    ['dr', 'lessThanOrEquals', 0, ''],
    ['dtr', 'equals', '2024-12-31', 'a'],
    ['dtr', 'equals', '2024-12-31T00:00:01Z', ''],
  ]);
});

test('query contract: a search allows edits by the length of its words, swaps are one edit, and the score orders', async () => {
  const items = Object.entries(things).map(([originId, fields]) => {
    return { partition: 0, sourceId: 's', originId, updatedAtMs: 0, fields };
  });
  const searches: readonly (readonly [string, string])[] = [
    ['qiuck', 'a'],
    ['qu', ''],
    ['fxo', 'a'],
    ['foxxx', ''],
    ['brown fox', 'a'],
    ['brownn brown', 'a'],
    ['strasse', 'b'],
    ['e\u0301cole', 'b'],
    ['fish', 'E'],
    ['23', 'E'],
    ['24', ''],
    ['ΣΊΣΥΦΟΣ', 'E'],
    ['a*b', 'c'],
    ['!!!', ''],
    ['x'.repeat(256), ''],
    ['\u{1F600}'.repeat(256), ''],
  ];
  for (const [value, expected] of searches) {
    const search = { field: 'tx', value };
    const { json } = await ask({ search });
    assert.equal(json.results.map(({ _originId }: JsonObject) => _originId).join(' '), expected, value);
    const scoreOf = naiveScorer(search, items);
    const scores = items.map(scoreOf).filter((score) => score !== null);
    assert.deepEqual(
      json.results.map(({ _score }: JsonObject) => _score),
      scores,
      value,
    );
  }
  assert.equal(await found({ search: { field: 'tx', value: 'qiuck', literal: true } }), '');
  assert.equal(await found({ search: { field: 'tx', value: 'QUICK nothing', literal: true } }), 'a');
  const words = { field: 'txs', value: 'wrold hello' };
  assert.equal(await found({ search: words }), 'b a');
  assert.equal(await found({ search: words, sort: [{ field: '_score' }] }), 'a b');
});

test('query contract: absent values sort last in both orders, lists by their smallest or largest item, ties by _originId', async () => {
  const sorts: readonly (readonly [Json, string])[] = [
    [[{ field: 'kw' }], 'c a b E d'],
    [[{ field: 'kw', order: 'desc' }], 'E b a c d'],
    [[{ field: 'kws', order: 'desc' }], 'a b c E d'],
    [[{ field: 'boo' }], 'b a E c d'],
    // 'yesterday' makes this a text field, which leaves out the number of b.
    [
      [
        { field: 'dat', order: 'desc' },
        { field: 'kw', order: 'desc' },
      ],
      'c a E b d',
    ],
    [[{ field: 'nothing' }], 'E a b c d'],
  ];
  const path = '/v1/sourceGroupAlias/cms/type/thing';
  for (const [sort, expected] of sorts) {
    const { json } = await ask({ sort }, path);
    const ids = json.results.map(({ _originId }: JsonObject) => _originId).join(' ');
    assert.equal(ids, expected, JSON.stringify(sort));
  }
  for (const sort of [[], null]) {
    const { json } = await ask({ sort }, path);
    const rows: { _originId: string; _updatedAt: string }[] = json.results;
    const latestFirst = rows.toSorted(
      (a, b) => Date.parse(b._updatedAt) - Date.parse(a._updatedAt) || (a._originId < b._originId ? -1 : 1),
    );
    assert.deepEqual(rows, latestFirst, JSON.stringify(sort));
    assert.equal(rows.length, 5);
  }
});

test('query contract: facets keep the type of their values; an invalid one has no groups', async () => {
  const fields = ['int', 'boo', 'kws', 'lng', 'ir', 'obj', 'nothing', '_sourceGuid', '_updatedAt', '_score'];
  const { json } = await ask({ facets: fields.map((field) => ({ field })), pagination: { pageSize: 0 } });
  const groups = (values: Json[]) => values.map((value) => ({ value, count: 1 }));
  const expected: Record<string, Json> = {
    int: groups([-5, 5]),
    boo: groups([false, true]),
    kws: groups(['*', 'Y', 'x', 'y', 'z*']),
    lng: groups(['9007199254740992', '9007199254740993']),
    _sourceGuid: [{ value: sourceId, count: 5 }],
  };
  assert.deepEqual(
    json.facets,
    fields.map((field) => ({
      name: field,
      field,
      groups: expected[field] ?? [],
      isValid: expected[field] !== undefined,
    })),
  );
  assert.deepEqual([json.totalResults, json.results, json.nextPageToken], [5, [], null]);
});

test('query contract: all errors of a query are reported together, with their paths', async () => {
  const { status, json } = await ask({
    filters: {
      and: [
        { field: 'x', operator: 'y' },
        { field: 'int', operator: 'contains', value: 1 },
        { or: [{ field: 'boo', operator: 'greaterThan', value: 'a' }] },
        { and: [] },
        { or: [{ and: [] }] },
      ],
    },
    search: { field: 'kw', value: 'x'.repeat(257) },
    sort: [{ field: 'obj' }, { order: 'up' }],
    facets: [{ size: -1 }],
    pagination: { page: -1, pageSize: 1001 },
    aliases: ['card', 'nothing'],
  });
  assert.deepEqual([status, json.status, json.message], [400, 400, 'Query is not valid']);
  assert.deepEqual(
    json.errors.map((text: string) => text.slice(0, text.indexOf(':'))),
    [
      'filters.and[0].operator',
      'filters.and[0].field',
      'filters.and[1].operator',
      'filters.and[2].or[0].operator',
      'filters.and[2].or[0].value',
      'filters.and[3]',
      'filters.and[4].or[0]',
      'search.value',
      'search.field',
      'facets[0].size',
      'facets[0].field',
      'sort[0].field',
      'sort[1].order',
      'sort[1].field',
      'pagination.page',
      'pagination.pageSize',
      'aliases[1]',
    ],
  );
});

const asType = { sourceGroupAlias: 'cms', sourceEntityType: 'thing' };

test('query contract: a multi-query over indexes answers each query, at /v1 and at /v1/', async () => {
  const body = [
    { index: 'things', name: 'first', sort: [{ field: '_originId' }], pagination: { pageSize: 1 } },
    { index: 'things', aliases: ['card'], pagination: { pageSize: 0 } },
  ];
  for (const path of ['/v1', '/v1/']) {
    const { status, json } = await ask(body, path);
    assert.equal(status, 200);
    const alone = await ask(body[0] as JsonObject);
    assert.deepEqual(json, [
      { ...alone.json, index: 'things', name: 'first' },
      {
        status: 0,
        index: 'things',
        name: null,
        totalResults: alone.json.totalResults,
        results: [],
        facets: [],
        nextPageToken: null,
      },
    ]);
  }
});

test('query contract: a multi-query answers the valid ones, and reports the errors of each invalid one at its index', async () => {
  const message = 'Query is not valid';
  const indexes = await ask(
    [
      { index: 'nothing', name: 'nowhere' },
      { index: 'things', name: 'good', pagination: { pageSize: 0 } },
      { index: 'things', name: 'sorted', sort: 5 },
      { name: 'whose' },
      7,
    ],
    '/v1',
  );
  assert.equal(indexes.status, 200);
  assert.deepEqual([indexes.json[1].name, indexes.json[1].status], ['good', 0]);
  const bad = indexes.json.filter((one: JsonObject) => one.status !== 0);
  assert.deepEqual(bad, [
    { name: 'nowhere', index: 'nothing', message, errors: ['No index has the alias "nothing"'], status: 404 },
    { name: 'sorted', index: 'things', message, errors: bad[1].errors, status: 400 },
    { name: 'whose', index: null, message, errors: ['index must be a string'], status: 400 },
    { name: null, index: null, message, errors: ['The query must be an object'], status: 400 },
  ]);
  const sources = await ask(
    [
      { ...asType, name: 'good' },
      { ...asType, name: 'bad', sort: 5 },
    ],
    '/v1/source',
  );
  assert.equal(sources.status, 200);
  assert.equal(sources.json[0].status, 0);
  assert.deepEqual(sources.json[1], {
    ...asType,
    name: 'bad',
    message,
    errors: sources.json[1].errors,
    status: 400,
  });
});

test('query contract: a multi-query without a valid query is 400 with the errors of each', async () => {
  const { status, json } = await ask(
    [
      { ...asType, name: 'sorted', sort: 5 },
      { ...asType, name: 'nowhere', sourceEntityType: 'nothing' },
      { name: 'whose', sort: 5 },
      7,
    ],
    '/v1/source',
  );
  assert.equal(status, 400);
  assert.deepEqual(
    json.map((one: { name: Json; status: number; errors: Json[] }) => [
      one.name,
      one.status,
      one.errors.length,
    ]),
    [
      ['sorted', 400, 1],
      ['nowhere', 404, 1],
      ['whose', 400, 3],
      [null, 400, 1],
    ],
  );
  for (const path of ['/v1', '/v1/source']) {
    assert.deepEqual((await ask([], path)).json, []);
    for (const body of [{}, 5, Array.from({ length: 6 }, () => ({ ...asType, index: 'things' }))]) {
      const refused = await ask(body, path);
      assert.deepEqual([refused.status, refused.json.length, refused.json[0].name], [400, 1, null]);
    }
  }
});

test('query contract: pages end at 10,000 items, and invalid pages are 400', async () => {
  for (const [page, pageSize, expected] of [
    [9, 1000, 200],
    [10, 1000, 400],
    [999, 10, 200],
    [1000, 10, 400],
    [0, 1001, 400],
    [0.5, 10, 400],
  ] as const) {
    assert.equal((await ask({ pagination: { page, pageSize } })).status, expected, `${page} × ${pageSize}`);
  }
});

test('query contract: a version that does not become visible is 503 with the code that other reads have', async () => {
  const headers = { 'X-Api-Key': clientKey, 'X-Service-Min-Version': 'v1-0.zzzz' };
  const sent = [tenant.send('POST', '/v1/things', {}, headers), tenant.send('POST', '/v1', [], headers)];
  for (const { status, json, headers: had } of await Promise.all(sent)) {
    assert.deepEqual([status, json.code, had['retry-after']], [503, 'versionNotReached', '1']);
    assert.match(json.error, /version in the Min-Version header is not visible yet/);
  }
});
