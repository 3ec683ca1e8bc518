/** `errors` is in every error of an ingest endpoint: name → string for one entity, name → [string] for many. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CallAnswer, type CallOptions, startFront, type TestFront } from '../support/front.ts';
import { apiKeys } from '../support/site.ts';
import { exchange } from '../support/wire.ts';

let front: TestFront;
let busy: TestFront;
before(async () => {
  [front, busy] = await Promise.all([startFront(), startFront({ rateLimit: 1, openRateLimit: 1 })]);
});
after(() => Promise.all([front.stop(), busy.stop()]));

const key = apiKeys.source;
const one = '/ingest/v2/a';
const many = '/ingest/v2';
const large = 'x'.repeat(1_100_000);

type Case = readonly [
  status: number,
  errors: object,
  method: string,
  path: string,
  options: CallOptions,
  code?: string,
];

const cases: readonly Case[] = [
  [401, {}, 'POST', one, { body: {} }],
  [401, {}, 'POST', many, { key: 'unknown', body: [] }],
  [401, {}, 'DELETE', one, {}],
  [401, {}, 'DELETE', many, { body: {} }],
  [403, {}, 'POST', one, { key: apiKeys.client, body: {} }],
  [403, {}, 'POST', many, { key: apiKeys.client, body: [] }],
  [403, {}, 'DELETE', one, { key: apiKeys.client }],
  [403, {}, 'DELETE', many, { key: apiKeys.client, body: {} }],
  [404, {}, 'DELETE', '/ingest/v2/never', { key }],
  [401, {}, 'POST', '/ingest/v1', { body: {} }],
  [403, {}, 'DELETE', '/ingest/v1?id=a', { key: apiKeys.client }],
  [404, {}, 'DELETE', '/ingest/v1?id=never', { key }],
  [405, {}, 'PUT', '/ingest/v1', { key, body: {} }],
  [413, {}, 'POST', '/ingest/v1', { key, body: 'x'.repeat(5_242_881) }, 's-1007'],
  [415, {}, 'POST', '/ingest/v1', { key, body: {}, headers: { 'Content-Encoding': 'compress' } }],
  [422, {}, 'POST', '/ingest/v1', { key, body: '{' }, 's-1001'],
  [422, { body: 'The body must be an object' }, 'POST', '/ingest/v1', { key, body: '[]' }, 's-1001'],
  [
    422,
    { id: 'id is missing', type: 'type is missing', properties: 'properties is missing' },
    'POST',
    '/ingest/v1',
    { key, body: {} },
    's-1001',
  ],
  [422, { id: 'id must be in the query string exactly once' }, 'DELETE', '/ingest/v1', { key }, 's-1001'],
  [422, { id: 'id must be in the query string exactly once' }, 'DELETE', '/ingest/v1?id=a&id=b', { key }],
  [422, { id: 'id must not be empty' }, 'DELETE', '/ingest/v1?id=', { key }],
  [422, { id: 'id must be percent-encoded UTF-8' }, 'DELETE', '/ingest/v1?id=%ff', { key }],
  [405, {}, 'PUT', one, { key, body: {} }],
  [405, {}, 'PUT', many, { key, body: {} }],
  [413, {}, 'POST', one, { key, body: 'x'.repeat(5_242_881) }, 's-1007'],
  [413, {}, 'DELETE', many, { key, body: large }, 's-1007'],
  [415, {}, 'POST', one, { key, body: {}, headers: { 'Content-Encoding': 'compress' } }],
  [415, {}, 'POST', many, { key, body: [], headers: { 'Content-Encoding': 'compress' } }],
  [422, {}, 'POST', one, { key, body: '{' }, 's-1001'],
  [422, {}, 'POST', many, { key, body: '{' }, 's-1001'],
  [422, {}, 'POST', many, { key, body: Array.from({ length: 51 }, () => 1) }, 's-1001'],
  [
    422,
    { type: 'type is missing', properties: 'properties is missing' },
    'POST',
    one,
    { key, body: {} },
    's-1001',
  ],
  ...['x', '-1', '1.5', '1e3', '5001', '00005001'].flatMap((wait): Case[] => {
    const errors = { wait: 'X-Acme-Wait must be a whole number of milliseconds from 0 to 5,000' };
    const headers = { 'X-Service-Wait': wait };
    const body = { type: 'waits', properties: {} };
    return [
      [422, errors, 'POST', '/ingest/v2/waits', { key, body, headers }, 's-1001'],
      [422, errors, 'DELETE', '/ingest/v2/waits', { key, headers }, 's-1001'],
      [422, errors, 'POST', '/ingest/v1', { key, body: { id: 'waits', ...body }, headers }, 's-1001'],
      [422, errors, 'DELETE', '/ingest/v1?id=waits', { key, headers }, 's-1001'],
      [
        422,
        { wait: [errors.wait] },
        'POST',
        many,
        { key, body: [{ originId: 'waits', ...body }], headers },
        's-1001',
      ],
      [
        422,
        { wait: [errors.wait] },
        'DELETE',
        many,
        { key, body: { originIds: ['waits'] }, headers },
        's-1001',
      ],
    ];
  }),
  [422, { body: ['The body must be an object'] }, 'DELETE', many, { key, body: '[]' }, 's-1001'],
  [422, { originIds: ['originIds is missing'] }, 'DELETE', many, { key, body: '{}' }, 's-1001'],
  [422, { originIds: ['originIds must be an array'] }, 'DELETE', many, { key, body: '{"originIds":"a"}' }],
];

test('ingest errors: every error of an ingest endpoint has errors', async () => {
  for (const [status, errors, method, path, options, code] of cases) {
    const { status: got, json, text } = await front.call(method, path, options);
    const about = `${method} ${path}: ${text}`;
    assert.equal(got, status, about);
    assert.deepEqual(json.errors, errors, about);
    assert.equal(json.status, status, about);
    assert.equal(typeof json.message, 'string', about);
    if (code !== undefined) assert.equal(json.errorCode, code, about);
  }
});

test('ingest errors: a bulk request without a valid item has the code of its error', async () => {
  const saved = await front.call('POST', many, { key, body: [{ originId: 'a' }] });
  assert.deepEqual([saved.status, saved.json.code], [422, 'entityInvalid']);
  assert.deepEqual([saved.json.changedSourceEntities, Object.keys(saved.json.errors)], [[], ['a']]);
  const deleted = await front.call('DELETE', many, { key, body: { originIds: [''] } });
  assert.deepEqual([deleted.status, deleted.json.code], [422, 'requestInvalid']);
  const partly = await front.call('DELETE', many, { key, body: { originIds: ['', 'never'] } });
  assert.deepEqual([partly.status, 'code' in partly.json], [200, false]);
});

test('ingest errors: a write with an invalid X-Service-Wait is not accepted', async () => {
  const { status } = await front.call('DELETE', '/ingest/v2/waits', { key });
  assert.equal(status, 404);
});

test('ingest errors: an error of another interface has none', async () => {
  for (const [method, path] of [
    ['GET', '/v2'],
    ['PUT', '/v2'],
    ['GET', '/nothing'],
  ] as const) {
    const { json } = await front.call(method, path, { key: apiKeys.client });
    assert.ok(!('errors' in json), path);
  }
});

test('ingest errors: a missing length has errors, too', async () => {
  for (const path of [
    'POST /ingest/v2',
    'POST /ingest/v2/a',
    'POST /ingest/v2/a/b',
    'POST /ingest/v1',
    'DELETE /ingest/v2',
  ]) {
    const head = `${path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n\r\n`;
    const { text } = await exchange(front.port, [head]);
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    assert.deepEqual([body.status, body.errors], [411, {}], path);
  }
});

test('ingest errors: too many requests have errors, too', async () => {
  const calls: readonly (() => Promise<CallAnswer>)[] = [
    () => busy.call('DELETE', one, { key }),
    () => busy.call('POST', many, { key, body: [] }),
    () => busy.call('POST', one, { body: {} }),
    () => busy.call('PUT', many, {}),
  ];
  for (const call of calls) {
    const answers = [];
    for (let time = 0; time < 6; time += 1) answers.push(await call());
    const refused = answers.find(({ status }) => status === 429);
    assert.deepEqual(refused?.json.errors, {});
  }
});
