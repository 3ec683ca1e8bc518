/** Clients of ingest choose the names of types and properties, which must not let an auto-indexed source grow without bound. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { autoFieldsMax, autoIndexedNamesMax } from '../../src/contract/limits.ts';
import { until } from '../support/until.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';
import { apiKeys, hostileSite, viewIdOf } from './support/site.ts';

let system: System;
before(async () => {
  system = await sharedPlatform(hostileSite('hostile-auto-index'));
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
  const findings = () => system.metric('millrace_diagnostics_total');
  const findingsBefore = await findings();
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
  await until('findings are counted', async () => (await findings()) >= findingsBefore + 50);
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
