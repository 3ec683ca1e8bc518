/**
 * Features of a query besides filters, search, sort and pages (docs/reference/indexes-and-queries.md), over HTTP and two
 * workers: selected fields, statistics and ranges of facets, one item of each value, geo search.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { Answer } from '../support/client.ts';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';

const fieldTypes = {
  name: 'text',
  size: 'double',
  at: 'date',
  many: 'long[]',
  days: 'date[]',
  span: 'dateRange',
  none: 'double',
  where: 'geoPoint',
  stops: 'geoPoint[]',
};

const things: Readonly<Record<string, JsonObject>> = {
  a: {
    name: 'river',
    size: 0.1,
    at: '2024-05-01',
    many: ['9007199254740993', 5, 5],
    span: { gte: 1 },
    where: { lat: 48.2082, lon: 16.3738 },
  },
  b: { name: 'mill', size: 0.2, many: [-1], days: ['2024-05-06', '2024-05-12', '2024-05-13T00:00:00+01:00'] },
  c: {
    name: 'river',
    size: 0.3,
    at: '2023-12-31T23:59:59Z',
    where: [179, -10],
    stops: [[16, 48], { lat: 0, lon: -180 }, [181, 0]],
  },
  d: { at: 1714521600000, where: { lat: 95, lon: 16 } },
};

const card = { triggers: { cms: ['thing'] }, properties: { name: '{p.name}' } };
const tenant = new QueryTenant(
  'refined',
  { schemas: { card }, indexes: { things: indexOfTypes(fieldTypes) } },
  things,
);

const groupPath = '/v1/sourceGroupAlias/cms/type/thing';

const ask = (body: Json, path?: string): Promise<Answer> => tenant.ask(body, path);
const good = (body: Json, path?: string): Promise<Answer['json']> => tenant.good(body, path);

test('query refinements: only the selected fields of an index are returned, besides the built-in ones', async () => {
  const sort = [{ field: '_originId' }];
  const { results } = await good({ sort, fields: ['size', '_score'], aliases: ['card'] });
  assert.deepEqual(
    results.map((row: JsonObject) => Object.keys(row).filter((name) => name !== '_viewIds')),
    ['a', 'b', 'c', 'd'].map((id) => [
      ...['_originId', '_sourceGuid', '_updatedAt', '_score'],
      ...(things[id]?.size === undefined ? [] : ['size']),
      '_views',
    ]),
  );
  const none = await good({ fields: [] });
  assert.deepEqual(Object.keys(none.results[0]), ['_originId', '_sourceGuid', '_updatedAt', '_score']);
  const { status, json } = await ask({ fields: ['size', 'nope'] });
  assert.deepEqual([status, json.errors], [400, ['fields[1]: the index has no field "nope"']]);
  const ofGroup = await good({ sort, fields: ['nope', 'name'] }, groupPath);
  assert.deepEqual(
    ofGroup.results.map(({ name, size, at }: JsonObject) => [name ?? null, size, at]),
    ['river', 'mill', 'river', null].map((name) => [name, undefined, undefined]),
  );
});

/** The facets of an answer, without their names. */
async function facets(asked: Json[], more: JsonObject = {}): Promise<Json[]> {
  const answer = await good({ facets: asked, pagination: { pageSize: 0 }, ...more });
  return answer.facets.map(({ name, field, ...rest }: JsonObject) => {
    assert.equal(name, field);
    return rest;
  });
}

const invalid = { groups: [], isValid: false };

test('query refinements: statistics are exact over all items, dates are ISO strings, and null without values', async () => {
  const asked = ['size', 'many', 'at', 'none', 'name', 'span', 'nope', '_updatedAt'];
  const found = await facets(asked.map((field) => ({ field, stats: true, size: 1 })));
  const [size, many, at, none, ...others] = found;
  assert.deepEqual(size, {
    groups: [{ value: 0.1, count: 1 }],
    isValid: true,
    stats: { min: 0.1, max: 0.3, sum: 0.6, mean: 0.2, count: 3 },
  });
  assert.deepEqual((many as JsonObject).stats, {
    min: -1,
    max: '9007199254740993',
    sum: '9007199254741002',
    mean: 2251799813685250.5,
    count: 4,
  });
  // a and d have the same day, and c is one second before the new year.
  assert.deepEqual((at as JsonObject).stats, {
    min: '2023-12-31T23:59:59.000Z',
    max: '2024-05-01T00:00:00.000Z',
    mean: '2024-03-21T15:59:59.666Z',
    count: 3,
  });
  const nothing = { min: null, max: null, sum: null, mean: null, count: 0 };
  assert.deepEqual(none, { groups: [], isValid: true, stats: nothing });
  assert.deepEqual(others, [invalid, invalid, invalid, invalid]);
});

test('query refinements: ranges have one group each, in the requested order, including from and excluding to', async () => {
  const ranges = [
    { from: 0.2, to: 0.3 },
    { to: 0.2, name: 'less' },
    { from: 0.1 },
    { from: 7, to: 8 },
    { from: 1, to: 1 },
  ];
  const days = [{ from: '2024-05-06', to: '2024-05-13' }, { from: Date.parse('2024-05-12T23:00:00Z') }];
  const found = await facets([
    { field: 'size', ranges, size: 1 },
    { field: 'many', ranges: [{ from: 5, to: '9007199254740994' }, { to: '9007199254740993' }] },
    { field: 'days', ranges: days, stats: true },
    { field: 'name', ranges: [{ from: 1 }] },
    { field: 'size', ranges: [] },
  ]);
  const group = (value: string, from: Json, to: Json, count: number) => ({ value, from, to, count });
  assert.deepEqual(found[0], {
    groups: [
      group('0.2-0.3', 0.2, 0.3, 1),
      group('less', null, 0.2, 1),
      group('0.1-*', 0.1, null, 3),
      group('7-8', 7, 8, 0),
      group('1-1', 1, 1, 0),
    ],
    isValid: true,
  });
  assert.deepEqual((found[1] as JsonObject).groups, [
    group('5-9007199254740994', 5, '9007199254740994', 1),
    group('*-9007199254740993', null, '9007199254740993', 2),
  ]);
  const [from = 0] = [days[1]?.from];
  assert.deepEqual(found[2], {
    groups: [
      group('2024-05-06-2024-05-13', '2024-05-06', '2024-05-13', 1),
      group(`${from}-*`, from, null, 1),
    ],
    isValid: true,
    stats: {
      min: '2024-05-06T00:00:00.000Z',
      max: '2024-05-12T23:00:00.000Z',
      mean: '2024-05-10T07:40:00.000Z',
      count: 3,
    },
  });
  assert.deepEqual(found.slice(3), [invalid, { groups: [], isValid: true }]);
});

test('query refinements: intervals are in chronological order, in UTC, with weeks from Monday', async () => {
  const found = await facets([
    { field: 'at', interval: 'day' },
    { field: 'at', interval: 'year', size: 1 },
    { field: 'days', interval: 'week' },
    { field: 'days', interval: 'month' },
    { field: 'size', interval: 'day' },
  ]);
  const group = (day: string, count: number) => ({ value: `${day}T00:00:00.000Z`, count });
  assert.deepEqual(found, [
    { groups: [group('2023-12-31', 1), group('2024-05-01', 2)], isValid: true },
    { groups: [group('2023-01-01', 1), group('2024-01-01', 2)], isValid: true },
    { groups: [group('2024-05-06', 1)], isValid: true },
    { groups: [group('2024-05-01', 1)], isValid: true },
    invalid,
  ]);
});

test('query refinements: a facet without its filter counts as if its field had no condition', async () => {
  const filters = {
    and: [
      { field: 'size', operator: 'greaterThan', value: 0.1 },
      { or: [{ field: 'name', operator: 'equals', value: 'mill' }] },
    ],
  };
  const asked: Json[] = [
    { field: 'name', filter: false },
    { field: 'name' },
    { field: 'size', filter: false, stats: true },
    { field: 'at', filter: false },
  ];
  const found = await facets(asked, { filters });
  const group = (value: Json, count: number) => ({ value, count });
  assert.deepEqual(found, [
    { groups: [group('mill', 1), group('river', 1)], isValid: true },
    { groups: [group('mill', 1)], isValid: true },
    {
      groups: [group(0.2, 1)],
      isValid: true,
      stats: { min: 0.2, max: 0.2, sum: 0.2, mean: 0.2, count: 1 },
    },
    { groups: [], isValid: true },
  ]);
  const search = { field: 'name', value: 'river' };
  const searched = await facets([{ field: 'name', filter: false }], { filters, search });
  assert.deepEqual(searched, [{ groups: [group('river', 1)], isValid: true }]);
});

test('query refinements: errors in a facet are reported with the other errors', async () => {
  const { status, json } = await ask({
    sort: 5,
    facets: [
      {
        field: 'size',
        ranges: [{ from: 2, to: 1 }, { to: 'NaN' }],
        interval: 'eon',
        stats: 'yes',
        filter: 0,
      },
    ],
  });
  assert.equal(status, 400);
  assert.deepEqual(
    json.errors.map((text: string) => text.slice(0, text.indexOf(':'))),
    [
      'sort',
      ...['interval', 'stats', 'filter', 'ranges[0]', 'ranges[1].to'].map((name) => `facets[0].${name}`),
    ],
  );
});

test('query refinements: distinct returns the first item of each value in the requested order, and every item without one', async () => {
  const ids = async (body: JsonObject) => {
    const { results, totalResults } = await good(body);
    assert.equal(totalResults, results.length);
    return results.map((row: JsonObject) => row._originId).join(' ');
  };
  const sort = (field: string, order = 'asc') => [{ field, order }];
  assert.equal(await ids({ distinct: 'name', sort: sort('size') }), 'a b d');
  assert.equal(await ids({ distinct: 'name', sort: sort('size', 'desc') }), 'c b d');
  assert.equal(await ids({ distinct: 'at', sort: sort('_originId', 'desc') }), 'd c b');
  assert.equal(await ids({ distinct: 'none', sort: sort('_originId') }), 'a b c d');
  assert.equal(
    await ids({
      distinct: '_sourceGuid',
      search: { field: 'name', value: 'rivers' },
      sort: sort('size', 'desc'),
    }),
    'c',
  );
  const filters = { and: [{ field: 'size', operator: 'greaterThan', value: 0.1 }] };
  assert.equal(await ids({ distinct: 'name', sort: sort('size'), filters }), 'b c');
  const group = (value: Json, count: number) => ({ value, count });
  const more = { distinct: 'name', sort: sort('size'), filters };
  const asked = [{ field: 'name' }, { field: 'size', filter: false }];
  assert.deepEqual(
    (await facets(asked, more)).map((facet) => (facet as JsonObject).groups),
    [
      [group('mill', 1), group('river', 1)],
      [group(0.1, 1), group(0.2, 1)],
    ],
  );
  assert.deepEqual(
    (await facets(asked, { ...more, filters: null, distinctFacets: false })).map(
      (facet) => (facet as JsonObject).groups,
    ),
    [
      [group('river', 2), group('mill', 1)],
      [group(0.1, 1), group(0.2, 1), group(0.3, 1)],
    ],
  );
});

test('query refinements: distinct items can be paged by page and by token, which is bound to that field', async () => {
  const sort = [{ field: 'size' }];
  const page = (more: JsonObject, distinct: Json = 'name') => ({
    distinct,
    sort,
    pagination: { pageSize: 2, ...more },
  });
  const ids = (results: JsonObject[]) => results.map((row) => row._originId);
  const first = await good(page({}));
  assert.deepEqual([ids(first.results), first.totalResults], [['a', 'b'], 3]);
  const second = await good(page({ nextPageToken: first.nextPageToken }));
  assert.deepEqual([ids(second.results), second.totalResults, second.nextPageToken], [['d'], 3, null]);
  assert.deepEqual((await good(page({ page: 1 }))).results, second.results);
  for (const distinct of [null, 'at']) {
    const { status, json } = await ask(page({ nextPageToken: first.nextPageToken }, distinct));
    assert.deepEqual([status, json.errors], [400, ['Invalid nextPageToken']]);
  }
  const bad = await ask({ distinct: 'days', distinctFacets: 5, pagination: { pageSize: -1 } });
  assert.deepEqual(
    bad.json.errors.map((text: string) => text.slice(0, text.indexOf(':'))),
    ['distinctFacets', 'distinct', 'pagination.pageSize'],
  );
  assert.deepEqual((await good({ distinct: 'nope' }, groupPath)).totalResults, 4);
});

test('query refinements: geo points are found within a distance and within a box, also across the date line', async () => {
  const found = async (operator: string, value: Json, field = 'where') => {
    const { results } = await good({
      filters: { and: [{ field, operator, value }] },
      sort: [{ field: '_originId' }],
    });
    return results.map((row: JsonObject) => row._originId).join(' ');
  };
  const vienna = { lat: 48.2, lon: 16.4 };
  assert.equal(await found('withinDistance', { ...vienna, meters: 5000 }), 'a');
  assert.equal(await found('withinDistance', { ...vienna, meters: 500 }), '');
  assert.equal(await found('withinDistance', { ...vienna, meters: 1e9 }), 'a c');
  assert.equal(await found('withinBox', { north: 48.2082, south: -10, west: 16.3738, east: 179 }), 'a c');
  assert.equal(await found('withinBox', { north: 0, south: -20, west: 178, east: -178 }), 'c');
  assert.equal(await found('withinBox', { north: 0, south: 0, west: 180, east: 180 }, 'stops'), 'c');
  // Coordinates out of range are left out of the item.
  assert.equal(await found('equals', null), 'b d');
  assert.equal(await found('notEquals', null, 'stops'), 'c');
  const { results } = await good({
    filters: { and: [{ field: '_originId', operator: 'equals', value: 'c' }] },
  });
  assert.deepEqual(
    [results[0].where, results[0].stops],
    [
      [179, -10],
      [[16, 48], { lat: 0, lon: -180 }],
    ],
  );
});

test('query refinements: items are sorted by their distance, which is returned; those without a geo point are last', async () => {
  const near = { lat: 48, lon: 16 };
  const rows = async (sort: Json, more: JsonObject = {}) => {
    const { results } = await good({ sort, ...more });
    return results.map((row: JsonObject) => [row._originId, row._distance]);
  };
  const metres = (lat: number, lon: number) => {
    const [phi, other, east] = [near.lat, lat, lon - near.lon].map((degrees) => (degrees * Math.PI) / 180);
    const [a = 0, b = 0, turn = 0] = [phi, other, east];
    const share = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(turn / 2) ** 2;
    return 2 * 6_371_008.8 * Math.asin(Math.sqrt(share));
  };
  const [first, second, ...others] = await rows([{ field: 'where', near }]);
  assert.deepEqual([first[0], second[0], ...others], ['a', 'c', ['b', null], ['d', null]]);
  assert.ok(Math.abs(first[1] - metres(48.2082, 16.3738)) < 1e-3);
  assert.ok(Math.abs(second[1] - metres(-10, 179)) < 1e-3);
  const descending = await rows([{ field: 'where', near, order: 'desc' }]);
  assert.deepEqual(descending, [second, first, ...others]);
  const ofList = await rows([{ field: 'stops', near }], { fields: [] });
  assert.deepEqual(ofList[0], ['c', 0]);
  const page = { sort: [{ field: 'where', near }], pagination: { pageSize: 1 } };
  const { nextPageToken } = await good(page);
  const next = await good({ ...page, pagination: { pageSize: 1, nextPageToken } });
  assert.deepEqual(next.results[0]._originId, 'c');
  const moved = { ...page, sort: [{ field: 'where', near: { lat: 48, lon: 17 } }] };
  assert.equal((await ask({ ...moved, pagination: { nextPageToken } })).status, 400);
  assert.equal('_distance' in (await good({})).results[0], false);
  assert.equal((await good({ sort: [{ field: 'nope', near }] }, groupPath)).results[0]._distance, null);
});

test('query refinements: errors in a geo point are reported with the other errors', async () => {
  const value = { lat: 91, lon: 0, meters: -1 };
  const { status, json } = await ask({
    filters: {
      or: [
        { field: 'where', operator: 'withinDistance', value },
        { field: 'where', operator: 'withinBox', value: { north: 0, south: 1, east: 0, west: 0 } },
        { field: 'where', operator: 'equals', value: 'Vienna' },
        { field: 'name', operator: 'withinBox', value: { north: 1, south: 0, east: 0, west: 0 } },
      ],
    },
    sort: [{ field: 'where' }, { field: 'size', near: { lat: 0, lon: 0 } }],
  });
  assert.equal(status, 400);
  assert.deepEqual(
    json.errors.map((text: string) => text.slice(0, text.indexOf(':'))),
    [
      'filters.or[0].value.lat',
      'filters.or[0].value.meters',
      'filters.or[1].value',
      'filters.or[2].operator',
      'filters.or[3].operator',
      'sort[0].field',
      'sort[1].near',
    ],
  );
  assert.deepEqual(await facets([{ field: 'where' }]), [invalid]);
});
