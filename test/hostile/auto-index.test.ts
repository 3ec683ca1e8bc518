/** Clients of ingest choose the names of types and properties, which must not let an auto-indexed source grow without bound. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { autoFieldsMax, autoIndexedNamesMax } from '../../src/contract/limits.ts';
import type { FieldType } from '../../src/search/fields/field-type.ts';
import { AutoFields } from '../../src/store/entities/auto-fields.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { System } from '../system/support/processes/system.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';
import { apiKeys, hostileSite, viewIdOf } from './support/site.ts';

const redis = await TestRedis.start();
let system: System;
before(async () => {
  system = await System.start({ web: 1, workers: 2, jobs: 0, partitions: 8, files: hostileSite('acme') });
});
after(() => system.stop());

const fields = (prefix: string, count: number): Map<string, FieldType> =>
  new Map(Array.from({ length: count }, (_, number) => [`${prefix}${number}`, 'keyword']));

test('auto-index: a type keeps its first 1,000 fields, the same for every worker, and sends nothing to Redis once it is full', async () => {
  const store = await redis.openEmptyStore(4);
  const [one, other] = [new AutoFields(store), new AutoFields(await redis.openStore(4))];
  await other.decide('acme', 's', 'page', fields('a', 300));
  const decided = await one.decide('acme', 's', 'page', fields('b', 5_000));
  const expected = [...fields('a', 300).keys(), ...fields('b', autoFieldsMax - 300).keys()];
  assert.deepEqual([...(decided?.keys() ?? [])].sort(), expected.sort());
  assert.deepEqual(await other.decide('acme', 's', 'page', fields('c', 10)), decided);
  assert.deepEqual(await new AutoFields(store).read('acme', 's', 'page'), decided);
  await store.close();
  assert.deepEqual(await one.decide('acme', 's', 'page', fields('d', 10)), decided);
});

test('auto-index: two workers that fill a type concurrently agree on its fields', async () => {
  const store = await redis.openEmptyStore(4);
  const workers = [new AutoFields(store), new AutoFields(await redis.openStore(4))];
  const decided = await Promise.all(
    workers.map((worker, number) => worker.decide('acme', 's', 'page', fields(`w${number}-`, 900))),
  );
  const stored = await new AutoFields(store).read('acme', 's', 'page');
  assert.equal(stored?.size, autoFieldsMax);
  for (const own of decided) {
    for (const [name, type] of own ?? []) assert.equal(stored.get(name), type);
  }
});

test('auto-index: a source has a limited number of types and fields; another source has its own limit', async () => {
  const store = await redis.openEmptyStore(4);
  const worker = new AutoFields(store);
  const typesOfFull = Math.floor(autoIndexedNamesMax / (autoFieldsMax + 1));
  for (let number = 0; number < typesOfFull; number += 1) {
    const decided = await worker.decide('acme', 's', `full${number}`, fields('a', autoFieldsMax));
    assert.equal(decided?.size, autoFieldsMax);
  }
  const left = autoIndexedNamesMax - typesOfFull * (autoFieldsMax + 1);
  assert.equal((await worker.decide('acme', 's', 'last', fields('a', autoFieldsMax)))?.size, left - 1);
  assert.equal(await worker.decide('acme', 's', 'refused', fields('a', 1)), null);
  assert.equal(await worker.decide('acme', 's', 'refused', new Map()), null);
  assert.equal(await new AutoFields(store).read('acme', 's', 'refused'), null);
  assert.equal((await worker.decide('acme', 's', 'full0', fields('a', 5)))?.size, autoFieldsMax);
  assert.equal((await worker.decide('acme', 'other', 'page', fields('a', 1)))?.size, 1);
  assert.equal((await worker.decide('other', 's', 'page', fields('a', 1)))?.size, 1);
});

test('auto-index: an item is the same whether its empty lists were sent before or after the values that determined their fields', async () => {
  const client = system.client();
  const empty = {
    type: 'card',
    properties: { a: [], b: [null], c: null, d: '', e: '', f: ['', null], list: [{ name: 'x' }] },
  };
  const decisive = {
    type: 'card',
    properties: { a: ['x'], b: [1, null], c: 'x', d: '2024-05-17', e: 'x', f: ['x', ''] },
  };
  let headers = {};
  for (const [originId, entity] of [
    ['before', empty],
    ['decides', decisive],
    ['after', empty],
  ] as const) {
    const saved = await client.post(`/ingest/v2/${originId}`, entity, { key: apiKeys.source });
    headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
    await client.get('/v2?handle=none', { key: apiKeys.client, headers });
  }
  const sort = [{ field: '_originId' }];
  const { json } = await client.post(
    '/v1/sourceGroupAlias/cms/type/card',
    { sort },
    { key: apiKeys.client, headers },
  );
  const fields = json.results.map(({ _originId, _sourceGuid, _updatedAt, ...rest }: JsonObject) => rest);
  assert.deepEqual(fields, [
    { a: [], b: [], d: '', e: '', f: [''], list: [{ name: 'x' }] },
    { a: [], b: [], d: '', e: '', f: [''], list: [{ name: 'x' }] },
    { a: ['x'], b: [1], c: 'x', d: '2024-05-17', e: 'x', f: ['x', ''] },
  ]);
  const having = async (field: string, operator: string, value: Json) => {
    const filters = { and: [{ field, operator, value }] };
    const path = '/v1/sourceGroupAlias/cms/type/card';
    const { json } = await client.post(path, { filters, sort }, { key: apiKeys.client, headers });
    return json.results.map(({ _originId }: JsonObject) => _originId).join(' ');
  };
  for (const field of ['a', 'b', 'e', 'f']) {
    assert.equal(await having(field, 'exists', true), 'after before decides', field);
  }
  assert.equal(await having('d', 'exists', true), 'decides', 'an empty string is not a date');
  assert.equal(await having('d', 'greaterThan', '2024-01-01'), 'decides', 'and does not change its type');
  assert.equal(await having('e', 'equals', ''), 'after before');
  assert.equal(await having('f', 'equals', ''), 'after before decides');
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('auto-index: an item with a number in a date field is the same whether it was sent before or after the field became text', async () => {
  const client = system.client();
  let headers = {};
  const save = async (originId: string, properties: JsonObject) => {
    const entity = { type: 'event', properties };
    const { headers: sent } = await client.post(`/ingest/v2/${originId}`, entity, { key: apiKeys.source });
    headers = { 'X-Service-Min-Version': String(sent['x-service-version']) };
    await client.get('/v2?handle=none', { key: apiKeys.client, headers });
  };
  const items = async () => {
    const path = '/v1/sourceGroupAlias/cms/type/event';
    const query = { sort: [{ field: '_originId' }] };
    const { json } = await client.post(path, query, { key: apiKeys.client, headers });
    return json.results.map(({ _originId, day, days }: JsonObject) => [_originId, day, days]);
  };
  const numbers = { day: 1715904000000, days: ['2024-05-18', 5] };
  await save('a', { day: '2024-05-17', days: ['2024-05-17'] });
  await save('b', numbers);
  const before = [
    ['a', '2024-05-17', ['2024-05-17']],
    ['b', undefined, ['2024-05-18']],
  ];
  assert.deepEqual(await items(), before);
  await save('c', { day: 'soon', days: ['never'] });
  await save('d', numbers);
  assert.deepEqual(await items(), [...before, ['c', 'soon', ['never']], ['d', undefined, ['2024-05-18']]]);
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('auto-index: values beyond the limit are stored and delivered, omitted from the index, and counted', async () => {
  const client = system.client();
  const options = { key: apiKeys.source };
  const properties = Object.fromEntries(
    Array.from({ length: autoFieldsMax + 50 }, (_, number) => [`field${number}`, `value ${number}`]),
  );
  const names = (type: number) =>
    Object.fromEntries(Array.from({ length: autoFieldsMax }, (_, number) => [`f${type}x${number}`, true]));
  const types = Array.from(
    { length: Math.ceil(autoIndexedNamesMax / (autoFieldsMax + 1)) },
    (_, type) => type,
  );
  const filling = await client.post(
    '/ingest/v2',
    [
      { originId: 'wide', type: 'page', properties },
      ...types.map((type) => ({ originId: `t${type}`, type: `type${type}`, properties: names(type) })),
    ],
    options,
  );
  const version = { 'X-Service-Min-Version': String(filling.headers['x-service-version']) };
  await client.get('/v2?handle=none', { key: apiKeys.client, headers: version, timeoutMs: 20_000 });
  // A worker sends its metrics with its next heartbeat.
  await until('findings are counted', async () => (await system.metric('millrace_diagnostics_total')) >= 50);
  const late = { type: 'toString', properties: { title: 'late', handle: 'late' } };
  const saved = await client.post('/ingest/v2/late', late, options);
  const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  const read = { key: apiKeys.client, headers, timeoutMs: 20_000 };

  const delivered = await client.post('/v2', { ids: [viewIdOf('wide'), viewIdOf('late')] }, read);
  assert.equal(
    delivered.json.views[viewIdOf('wide')].all[`field${autoFieldsMax + 49}`],
    `value ${autoFieldsMax + 49}`,
  );
  assert.equal(delivered.json.views[viewIdOf('late')].title, 'late');
  const path = '/v1/sourceGroupAlias/cms/type';
  const { json } = await client.post(`${path}/page`, {}, read);
  const inIndex = Object.keys(json.results[0]).filter((name) => name.startsWith('field'));
  assert.deepEqual(inIndex, Object.keys(properties).slice(0, autoFieldsMax));
  assert.equal((await client.post(`${path}/toString`, {}, read)).status, 404);
  const indexed = await client.post('/v1/things', { search: { field: 'title', value: 'late' } }, read);
  assert.equal(indexed.json.totalResults, 1);
  assert.deepEqual(await differencesFoundByVerify(system), []);

  const changed = await client.post('/ingest/v2/late', { ...late, properties: { title: 'later' } }, options);
  assert.equal(changed.status, 200);
  const removed = await client.delete('/ingest/v2/late', options);
  const gone = {
    key: apiKeys.client,
    headers: { 'X-Service-Min-Version': String(removed.headers['x-service-version']) },
  };
  assert.deepEqual((await client.post('/v2', { ids: [viewIdOf('late')] }, gone)).json.views, {});
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
