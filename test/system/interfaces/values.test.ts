/** docs/reference/http.md "Source entities" over HTTP: numbers that a double would change, and bodies without `properties`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { indexOfTypes, QueryTenant } from '../support/query-tenant.ts';
import { sourceId, sourceKey } from '../support/site.ts';

const tenant = new QueryTenant(
  'values',
  { indexes: { things: indexOfTypes({ big: 'double', whole: 'long' }) } },
  {},
);

const big = '9007199254740993';
const advice = /cannot represent exactly\. Send it as a string/;
const raw = { 'X-Service-Type': 'thing' };

/** JSON text, so that no number is converted to a double on the way. */
const sent = (text: string) => Buffer.from(text);

test('values: a number that a double cannot represent exactly is 422 on its property', async () => {
  for (const number of [big, `-${big}`, '12345678901234567890', `${big}.0`, '1e400']) {
    const body = sent(`{"type":"thing","properties":{"ok":1,"deep":{"list":[0,${number}]}}}`);
    const { status, json } = await tenant.send('POST', '/ingest/v2/a', body);
    assert.equal(status, 422, number);
    assert.match(json.errors['properties.deep.list[1]'], advice);
    assert.ok(json.errors['properties.deep.list[1]'].includes(number));
  }
  const several = sent(`{"a":${big},"b":{"c":[-1e400]},"d":1}`);
  const { json: all } = await tenant.send('POST', '/ingest/v2/a', several, raw);
  assert.deepEqual(Object.keys(all.errors), ['properties.a', 'properties.b.c[0]']);
  const inRaw = await tenant.send('POST', '/ingest/v2/a', sent(`{"big":${big}}`), raw);
  assert.equal(inRaw.status, 422);
  assert.match(inRaw.json.errors['properties.big'], advice);
});

test('values: the error names the property with the number, even next to an exact one', async () => {
  const body = sent(`{"exact":9007199254740992,"text":"${big}","big":${big}}`);
  const { status, json } = await tenant.send('POST', '/ingest/v2/a', body, raw);
  assert.equal(status, 422);
  assert.deepEqual(Object.keys(json.errors), ['properties.big']);
});

test('values: exact numbers beyond 2^53, and long strings of digits, are accepted', async () => {
  const body = sent(`{"a":9007199254740992,"b":1e23,"c":-18014398509481984,"d":"${big}"}`);
  const { status, text } = await tenant.send('POST', '/ingest/v2/a', body, raw);
  assert.equal(status, 200, text);
});

test('values: in a bulk request only the entity with the number is rejected, in small bodies and in large ones', async () => {
  const good = '{"originId":"good","type":"thing","properties":{"n":9007199254740992}}';
  for (const filler of ['', 'x'.repeat(100_000)]) {
    const bad = `{"originId":"bad","type":"thing","properties":{"filler":"${filler}","big":${big}}}`;
    const { status, json } = await tenant.send('POST', '/ingest/v2', sent(`[${good},${bad}]`));
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json.errors), ['bad']);
    assert.match(json.errors.bad[0], advice);
  }
});

test('values: a large body of one entity is rejected like a small one', async () => {
  const body = sent(`{"filler":"${'x'.repeat(200_000)}","big":${big}}`);
  const { status, json } = await tenant.send('POST', '/ingest/v2/large', body, raw);
  assert.equal(status, 422);
  assert.match(json.errors['properties.big'], advice);
});

test('values: ingest v1 rejects the same numbers, also if they are strings of the type number', async () => {
  for (const value of [big, `"${big}"`]) {
    const body = sent(
      `{"id":"a","type":"thing","properties":{"list":{"type":"array","items":[{"type":"number","value":${value}}]}}}`,
    );
    const { status, json } = await tenant.send('POST', '/ingest/v1', body);
    assert.equal(status, 422, value);
    assert.match(
      json.errors['properties.list[0]'],
      /cannot represent exactly\. (Send it as a string|Use type string)/,
    );
  }
});

/** A single, a bulk and a v1 body without properties. */
const single = { type: 'thing' };
const bulk = [
  { originId: 'full', type: 'thing', properties: { title: 'y' } },
  { originId: 'bare', type: 'thing' },
];
const v1 = { id: 'v1', type: 'thing' };

test('values: a condition compares a number that a double cannot represent with all its digits', async () => {
  const things = [
    { originId: 'even', type: 'thing', properties: { big: 9007199254740992, whole: '9007199254740992' } },
    { originId: 'odd', type: 'thing', properties: { big: 9007199254740994, whole: big } },
  ];
  assert.equal((await tenant.send('POST', '/ingest/v2', things)).status, 200);
  await tenant.settle();
  const found = async (field: string, operator: string, value: string) => {
    const filters = `{"and":[{"field":"${field}","operator":"${operator}","value":${value}}]}`;
    const { status, json, text } = await tenant.ask(sent(`{"filters":${filters}}`));
    assert.equal(status, 200, text);
    return json.results.map(({ _originId }: JsonObject) => _originId);
  };
  for (const number of [big, `"${big}"`]) {
    assert.deepEqual(await found('whole', 'equals', number), ['odd']);
    assert.deepEqual(await found('whole', 'in', `[0,${number}]`), ['odd']);
    assert.deepEqual(await found('whole', 'lessThan', number), ['even']);
    assert.deepEqual(await found('big', 'equals', number), []);
    assert.deepEqual(await found('big', 'in', `[0,${number}]`), []);
    assert.deepEqual(await found('big', 'lessThan', number), ['even']);
    assert.deepEqual(await found('big', 'greaterThan', number), ['odd']);
  }
  assert.deepEqual(await found('big', 'equals', '9007199254740992'), ['even']);
});

test('values: a body without properties is 422', async () => {
  assert.match(
    (await tenant.send('POST', '/ingest/v2/bare', single)).json.errors.properties,
    /missing|required/,
  );
  assert.deepEqual(Object.keys((await tenant.send('POST', '/ingest/v2', bulk)).json.errors), ['bare']);
  assert.equal((await tenant.send('POST', '/ingest/v1', v1)).status, 422);
});

async function savePosts(type: string, posts: Readonly<Record<string, JsonObject>>): Promise<void> {
  for (const [originId, properties] of Object.entries(posts)) {
    const { status, text } = await tenant.send('POST', `/ingest/v2/${originId}`, { type, properties });
    assert.equal(status, 200, text);
  }
  await tenant.settle();
}

async function idsOf(type: string, query: JsonObject): Promise<string[]> {
  const path = `/v1/sourceGroupAlias/cms/type/${type}`;
  const { results } = await tenant.good({ sort: [{ field: '_originId' }], ...query }, path);
  return results.map(({ _originId }: { _originId: string }) => _originId);
}

const where = (field: string, operator: string, value: Json) => ({
  filters: { and: [{ field, operator, value }] },
});

test('auto-indexed groups: members of objects are fields by their path, three names deep', async () => {
  const ada = { name: 'Ada Lovelace', born: '1815-12-10', home: { city: 'London', at: { street: 'x' } } };
  const bob = { name: 'Bob', born: '1950-01-01', home: { city: 'Paris' } };
  await savePosts('post', {
    p1: { title: 'one', author: ada, tags: [{ label: 'red', size: 3 }, { label: 'blue' }] },
    p2: { title: 'two', author: bob, tags: [{ label: 'red', size: 5, more: ['a', 'b'] }] },
    p3: { title: 'three', author: null, tags: [] },
  });
  assert.deepEqual(await idsOf('post', where('author.name', 'equals', 'Ada Lovelace')), ['p1']);
  assert.deepEqual(await idsOf('post', { search: { field: 'author.name', value: 'lovelace' } }), ['p1']);
  assert.deepEqual(await idsOf('post', where('author.home.city', 'in', ['Paris'])), ['p2']);
  assert.deepEqual(await idsOf('post', where('author.born', 'lessThan', '1900-01-01')), ['p1']);
  assert.deepEqual(await idsOf('post', where('tags.label', 'equals', 'red')), ['p1', 'p2']);
  assert.deepEqual(await idsOf('post', where('tags.size', 'greaterThan', 4)), ['p2']);
  assert.deepEqual(await idsOf('post', where('tags.more', 'equals', 'b')), ['p2']);
  assert.deepEqual(await idsOf('post', where('author.name', 'exists', false)), ['p3']);
  assert.deepEqual(await idsOf('post', where('author.home.at.street', 'exists', true)), [], 'a fourth name');
  const asked = {
    search: { field: 'author.name', value: 'ada' },
    highlight: {},
    facets: [{ field: 'tags.label' }, { field: 'tags.size', stats: true }],
    sort: [{ field: 'author.name', order: 'desc' }],
    fields: ['title', 'author.name'],
  };
  const json = await tenant.good(asked, '/v1/sourceGroupAlias/cms/type/post');
  const [row] = json.results;
  assert.deepEqual(row.author, ada, 'items show the objects as they were sent');
  assert.equal(row._highlights['author.name'], '<em>Ada</em> Lovelace');
  assert.equal(row.tags, undefined);
  assert.deepEqual(
    json.facets.map(({ groups }: { groups: { value: Json }[] }) => groups.map(({ value }) => value)),
    [['blue', 'red'], [3]],
  );
  await savePosts('post', { p2: { title: 'two', author: { name: 'Bea' } } });
  assert.deepEqual(await idsOf('post', where('author.home.city', 'exists', true)), ['p1']);
  assert.deepEqual(await idsOf('post', where('author.name', 'equals', 'Bea')), ['p2']);
});

test('auto-indexed groups: an empty string determines no type, neither before a date nor after it', async () => {
  await savePosts('draft', {
    e1: { title: '2024-05-17', publishedAt: '', tags: [] },
    e2: { title: 'Spring', publishedAt: '2024-05-17', tags: ['x'] },
    e3: { title: '', publishedAt: '', tags: [''] },
  });
  assert.deepEqual(await idsOf('draft', { search: { field: 'title', value: 'spring' } }), ['e2']);
  assert.deepEqual(await idsOf('draft', where('publishedAt', 'lessThan', '2025-01-01')), ['e2']);
  assert.deepEqual(await idsOf('draft', where('publishedAt', 'exists', true)), ['e2']);
  assert.deepEqual(await idsOf('draft', where('title', 'exists', true)), ['e1', 'e2', 'e3']);
  assert.deepEqual(await idsOf('draft', where('tags', 'exists', true)), ['e1', 'e2', 'e3']);
  const { results } = await tenant.good(
    { sort: [{ field: '_originId' }] },
    '/v1/sourceGroupAlias/cms/type/draft',
  );
  assert.deepEqual([results[0].tags, results[2].title, results[2].publishedAt], [[], '', '']);
});

test('auto-indexed groups: a date field that receives another string becomes text for the whole type', async () => {
  await savePosts('dated', {
    d1: { title: '2024-05-17', when: { day: '2024-05-17' }, days: ['2024-05-17'], kept: '2024-05-17' },
    d2: { title: '2024-05-18', when: { day: '2024-05-18' }, days: ['2024-05-18'], kept: '2024-05-18' },
  });
  assert.deepEqual(await idsOf('dated', where('title', 'greaterThan', '2024-05-17')), ['d2']);
  const path = '/v1/sourceGroupAlias/cms/type/dated';
  assert.equal((await tenant.ask({ search: { field: 'title', value: '2024' } }, path)).status, 400);

  const byTitle = { sort: [{ field: 'title' }], pagination: { pageSize: 1 } };
  const { nextPageToken } = await tenant.good(byTitle, path);
  const second = { ...byTitle, pagination: { pageSize: 1, nextPageToken } };
  assert.equal((await tenant.good(second, path)).results[0]._originId, 'd2');

  const properties = { title: 'Hello world', when: { day: 'soon' }, days: ['2024-05-17', 'never'] };
  const { headers } = await tenant.send('POST', '/ingest/v2/d3', { type: 'dated', properties });
  const version = headers['x-service-version'] ?? '';
  assert.notEqual(version, '');
  await tenant.settle();
  for (const field of ['title', 'when.day', 'days']) {
    const value = { title: 'hello', 'when.day': 'soon', days: 'never' }[field] ?? '';
    assert.deepEqual(await idsOf('dated', { search: { field, value } }), ['d3'], field);
    assert.deepEqual(
      await idsOf('dated', { search: { field, value: '18' } }),
      ['d2'],
      `${field}: items before`,
    );
    assert.deepEqual(await idsOf('dated', where(field, 'contains', field === 'days' ? 'never' : '*o*')), [
      'd3',
    ]);
  }
  assert.deepEqual(await idsOf('dated', where('title', 'equals', '2024-05-17')), ['d1']);
  assert.deepEqual(await idsOf('dated', where('kept', 'greaterThan', '2024-05-17')), ['d2'], 'a date still');
  const { results } = await tenant.good({ sort: [{ field: 'title', order: 'desc' }] }, path);
  assert.deepEqual(
    results.map(({ title }: { title: string }) => title),
    ['Hello world', '2024-05-18', '2024-05-17'],
  );
  const late = await tenant.ask(second, path);
  assert.deepEqual([late.status, late.json.errors], [400, ['Invalid nextPageToken']], 'its order is gone');
});

// Last, because its tenant replaces the other one on the platform.
describe('values: a source with propertiesOptional', () => {
  const optional = new QueryTenant(
    'optional',
    {
      indexes: { things: indexOfTypes({ title: 'text' }) },
      settings: {
        sourceGroups: [
          {
            alias: 'cms',
            sources: [
              {
                id: sourceId,
                environments: ['production'],
                propertiesOptional: true,
                apiKeys: [sourceKey],
              },
            ],
          },
        ],
      },
    },
    { full: { title: 'x' } },
  );

  test('a body without properties is accepted, and the entity has none', async () => {
    assert.equal((await optional.send('POST', '/ingest/v2/single', single)).status, 200);
    const saved = await optional.send('POST', '/ingest/v2', bulk);
    assert.deepEqual(saved.json.changedSourceEntities, ['full', 'bare']);
    assert.equal((await optional.send('POST', '/ingest/v1', v1)).status, 200);
    const wrong = await optional.send('POST', '/ingest/v2/single', { type: 'thing', properties: [] });
    assert.equal(wrong.status, 422, 'an existing value must be an object');
    await optional.settle();
    const { results } = await optional.good({ sort: [{ field: '_originId' }] });
    const shown = results.map(({ _originId, title }: { _originId: string; title?: string }) => [
      _originId,
      title,
    ]);
    assert.deepEqual(shown, [
      ['bare', undefined],
      ['full', 'y'],
      ['single', undefined],
      ['v1', undefined],
    ]);
  });
});
