import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { type CallAnswer, startFront, type TestFront } from '../support/front.ts';
import { apiKeys, sourceId } from '../support/site.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

const key = apiKeys.source;
const bulk = (body: unknown, headers: Record<string, string> = {}): Promise<CallAnswer> =>
  front.call('POST', '/ingest/v2', { key, body, headers });
const save = (originId: string, body: unknown, headers: Record<string, string> = {}): Promise<CallAnswer> =>
  front.call('POST', `/ingest/v2/${originId}`, { key, body, headers });
const stored = async (originId: string) =>
  (await readEntities(front.store, 'one', [{ sourceId, originId }]))[0];

test('ingest: a bulk request lists what changed, what did not, and what is invalid', async () => {
  const entity = { originId: 'a', type: 't', url: '/a', redirects: ['/old'], properties: { n: 1 } };
  const first = await bulk([entity, { originId: 'b', type: 't', properties: { '1x': 1 } }, 7]);
  assert.equal(first.status, 200);
  assert.deepEqual(first.json.changedSourceEntities, ['a']);
  assert.deepEqual(Object.keys(first.json.errors), ['b', 'entities[2]']);
  assert.match(first.json.errors.b[0], /must not start with a digit/);
  assert.ok(first.headers.get('x-service-version'));
  assert.equal(first.headers.get('x-acme-version'), first.headers.get('x-service-version'));

  const again = await bulk([{ ...entity, properties: { n: 1 } }], { 'X-Acme-System-Information': 'imp 1' });
  assert.deepEqual(again.json.unchangedSourceEntities, ['a']);
  assert.deepEqual(again.json.ingestMetadata, {
    ingestVersion: 'v2',
    ingestFormat: 'bulk',
    systemInfo: 'imp 1',
    forceTypeOverwrite: false,
  });
  assert.ok(again.headers.get('x-service-version'));
});

test('ingest: a repeated originId is applied in order and listed once', async () => {
  const of = (n: unknown) => ({ originId: 'twice', type: 't', properties: n });
  const { json } = await bulk([of({ n: 1 }), of({ n: 2 }), of({ n: 2 }), of(null)]);
  assert.deepEqual(json.changedSourceEntities, ['twice']);
  assert.deepEqual(json.unchangedSourceEntities, []);
  assert.deepEqual(json.errors, { twice: ['properties must be an object'] });
  assert.deepEqual((await stored('twice'))?.properties, { n: 2 });
});

test('ingest: errors of the request as a whole are 422 s-1001', async () => {
  const many = Array.from({ length: 51 }, (_, n) => ({ originId: `${n}`, type: 't', properties: {} }));
  for (const body of ['', '{', '[1', '{"a":1}', '5', '[{"a":}]', JSON.stringify(many)]) {
    const { status, json } = await bulk(body);
    assert.deepEqual([status, json.status, json.errorCode], [422, 422, 's-1001'], body.slice(0, 20));
    assert.equal(typeof json.message, 'string');
  }
  for (const body of ['{"a":1}', 'null', '"x"', ' -5', 'true']) {
    assert.match((await bulk(body)).json.message, /must be a JSON array/, body);
  }
  assert.equal(await stored('0'), null);
});

test('ingest: an empty bulk request succeeds, one without any valid entity does not', async () => {
  const empty = await bulk([]);
  assert.deepEqual([empty.status, empty.json.changedSourceEntities], [200, []]);
  const bad = await bulk([{ originId: 'x' }]);
  assert.deepEqual([bad.status, bad.json.status], [422, 422]);
  assert.deepEqual(Object.keys(bad.json.errors), ['x']);
});

test('ingest: every invalid field of an entity is reported', async () => {
  const wrong: [string, unknown][] = [
    ['type', ''],
    ['type', 5],
    ['url', 'a'],
    ['url', 'ftp://x/y'],
    ['url', 'https://'],
    ['url', 'https:///a'],
    ['url', 'https://user@/a'],
    ['url', 'https://:80/a'],
    ['url', 'https://a:b/c'],
    ['url', 'https://a b/c'],
    ['url', 'https://%61/b'],
    ['url', 'https://[a/b'],
    ['url', 'https://a\\b/c'],
    ['url', 5],
    ['originParentId', 5],
    ['redirects', '/a'],
    ['redirects', ['x']],
    ['redirects', ['/old', 'https://a b/c']],
    ['properties', null],
    ['properties', []],
    ['properties', { '': 1 }],
    ['properties', { __: 1 }],
    ['properties', { 'a-b': 1 }],
  ];
  for (const [field, value] of wrong) {
    const { status, json } = await save('w', { type: 't', properties: {}, [field]: value });
    assert.deepEqual([status, json.errorCode, Object.keys(json.errors)], [422, 's-1001', [field]], field);
    assert.equal(typeof json.errors[field], 'string');
  }
});

test('ingest: every absolute URL with a valid host is accepted', async () => {
  const urls = [
    'https://a',
    'HTTP://A?b',
    'https://user:p@ss@bücher.example:8080/a b',
    'http://[::1]:80/',
    'http://a_b./@:c',
  ];
  for (const url of urls) {
    const { status, json } = await save('absolute', { type: 't', url, redirects: [url], properties: {} });
    assert.deepEqual([status, json.errors], [200, undefined], url);
  }
});

test('ingest: a name like __proto__ is stored and harmless', async () => {
  const { status } = await save('proto', '{"type":"t","properties":{"__proto__":{"x":1},"constructor":2}}');
  assert.equal(status, 200);
  const { json } = await bulk(
    '[{"originId":"__proto__","type":"t","properties":{}},{"originId":"__proto__"}]',
  );
  assert.deepEqual(json.changedSourceEntities, ['__proto__']);
  assert.ok(Object.hasOwn(json.errors, '__proto__'));
  assert.deepEqual(Object.keys((await stored('proto'))?.properties ?? {}), ['__proto__', 'constructor']);
});

test('ingest: with a Type header the body is raw, and headers carry the rest', async () => {
  const { status, json } = await save(
    'raw%2F1%20%C3%A9',
    { title: 'x' },
    {
      'X-Acme-Type': 'page',
      'X-Service-Url': Buffer.from('/café/1').toString('latin1'),
      'X-Service-OriginParentId': 'p',
      'X-Service-Redirects': '/one, /two',
    },
  );
  assert.deepEqual([status, json], [200, { status: 200, message: 'Processing of the entity has begun' }]);
  const { type, url, originParentId, redirects, properties } = (await stored('raw/1 é')) ?? {};
  assert.deepEqual(
    { type, url, originParentId, redirects, properties },
    {
      type: 'page',
      url: '/café/1',
      originParentId: 'p',
      redirects: ['/one', '/two'],
      properties: { title: 'x' },
    },
  );
  const again = await save('raw%2f1%20%c3%a9', {
    type: 'page',
    url: '/café/1',
    originParentId: 'p',
    redirects: ['/one', '/two'],
    properties: { title: 'x' },
  });
  assert.equal(again.json.message, 'Entity is unchanged');
});

test('ingest: a member id next to the type is ignored, because the path names the entity', async () => {
  const entity = { id: 'other', type: 't', url: '/named', properties: { n: 1 } };
  assert.equal((await save('named', entity)).status, 200);
  assert.deepEqual((await stored('named'))?.properties, { n: 1 });
  assert.equal(await stored('other'), null);
  const { json } = await save('named', { type: 't', url: '/named', properties: { n: 1 } });
  assert.equal(json.message, 'Entity is unchanged');
});

test('ingest: an originId can have unescaped slashes in the path', async () => {
  for (const [path, originId] of [
    ['a/b', 'a/b'],
    ['/news//2024/', '/news//2024/'],
    ['x%2Fy/z%20%C3%A9', 'x/y/z é'],
  ] as const) {
    assert.equal((await save(path, { type: 't', properties: { path } })).status, 200, path);
    assert.deepEqual((await stored(originId))?.properties, { path });
    assert.equal((await front.call('DELETE', `/ingest/v2/${path}`, { key })).status, 200, path);
    assert.equal(await stored(originId), null);
  }
  const refused = await front.call('POST', '/ingest/v2/a/%ff', { key, body: {} });
  assert.deepEqual([refused.status, Object.keys(refused.json.errors)], [422, ['originId']]);
  assert.equal((await front.call('DELETE', '/ingest/v2/a/b', { key: apiKeys.client })).status, 403);
});

test('ingest: a type changes only by force, or by deleting and saving again', async () => {
  await save('typed', { type: 'a', properties: {} });
  const refused = await save('typed', { type: 'b', properties: {} });
  assert.deepEqual([refused.status, refused.json.errorCode], [422, 's-1001']);
  assert.match(refused.json.errors.type, /X-Acme-Force-Type.*delete/);
  const inBulk = await bulk([{ originId: 'typed', type: 'b', properties: {} }]);
  assert.equal(inBulk.status, 422);
  assert.equal(
    (await save('typed', { type: 'b', properties: {} }, { 'X-Service-Force-Type': 'yes' })).status,
    422,
  );
  for (const [type, text] of Object.entries({ b: 'true', c: 'TRUE', d: '1' })) {
    const forced = await save('typed', { type, properties: {} }, { 'X-Service-Force-Type': text });
    assert.equal(forced.status, 200);
  }
  assert.equal((await front.call('DELETE', '/ingest/v2/typed', { key })).status, 200);
  assert.equal((await save('typed', { type: 'e', properties: {} })).status, 200);
});

test('ingest: deleting reports what existed', async () => {
  await save('gone', { type: 't', properties: {} });
  const first = await front.call('DELETE', '/ingest/v2/gone', { key });
  assert.deepEqual([first.status, first.json.status], [200, 200]);
  assert.ok(first.headers.get('x-service-version'));
  const again = await front.call('DELETE', '/ingest/v2/gone', { key });
  assert.deepEqual([again.status, again.json.errors], [404, {}]);

  await save('gone', { type: 't', properties: {} });
  const many = await front.call('DELETE', '/ingest/v2', {
    key,
    body: { originIds: ['gone', 'never', 5, 'gone'] },
  });
  assert.equal(many.status, 200);
  assert.deepEqual(many.json.deletedSourceEntities, ['gone']);
  assert.deepEqual(many.json.notFoundSourceEntities, ['never']);
  assert.deepEqual(Object.keys(many.json.errors), ['originIds[2]']);
  for (const body of ['{', '[]', '{}', { originIds: Array.from({ length: 51 }, String) }]) {
    const { status, json } = await front.call('DELETE', '/ingest/v2', { key, body });
    assert.deepEqual([status, json.errorCode], [422, 's-1001']);
  }
});

test('ingest: an entity over 5,242,880 bytes is 413 s-1007', async () => {
  const { status, json } = await save('large', { type: 't', properties: { text: 'x'.repeat(5_242_880) } });
  assert.deepEqual([status, json.status, json.errorCode], [413, 413, 's-1007']);
  const inBulk = await bulk([
    { originId: 'large', type: 't', properties: { text: 'x'.repeat(5_242_880) } },
    { originId: 'small', type: 't', properties: {} },
  ]);
  assert.deepEqual([inBulk.status, Object.keys(inBulk.json.errors)], [200, ['large']]);
  const fits = await save('fits', { type: 't', properties: { text: 'x'.repeat(5_000_000) } });
  assert.equal(fits.status, 200);
});

test('ingest: JSON that cannot be stored exactly is refused with a reason', async () => {
  const nested = `${'['.repeat(200)}${']'.repeat(200)}`;
  const reasons: [string, RegExp][] = [
    ['{"type":"t","properties":{"a":"\\ud800"}}', /surrogate/],
    [`{"type":"t","properties":{"a":${nested}}}`, /deep/],
  ];
  for (const [body, reason] of reasons) {
    const { status, json } = await save('odd', body);
    assert.equal(status, 422);
    assert.match(json.errors.properties, reason);
  }
  const latin1 = await fetch(`${front.url}/ingest/v2/odd`, {
    method: 'POST',
    headers: { 'X-Api-Key': key },
    body: Buffer.from('{"type":"t","properties":{"a":"\xe9"}}', 'latin1'),
  });
  assert.equal(latin1.status, 422);
  assert.equal((await front.call('POST', '/ingest/v2/%ff', { key, body: {} })).status, 422);
});

test('ingest: a source never sees the entities of another tenant', async () => {
  await save('mine', { type: 't', properties: {} });
  const other = await front.call('DELETE', '/ingest/v2/mine', { key: apiKeys.otherSource });
  assert.equal(other.status, 404);
  assert.ok(await stored('mine'));
});

test('ingest: the first value in the order of requests and entities determines the type of an auto-indexed field', async () => {
  const many = (values: readonly unknown[], padding = 'x') =>
    values.map((value, n) => ({ originId: `auto${n}`, type: 'auto', properties: { value, padding } }));
  const typesOf = async (type: string) =>
    Object.fromEntries((await new AutoFields(front.store).read('one', sourceId, type)) ?? []);
  assert.equal((await bulk(many([null, [], 5, 'five', true, {}]))).status, 200);
  assert.deepEqual(await typesOf('auto'), { value: 'double', padding: 'keywordText' });
  const large = { ...many(['2024-05-01', 7], 'x'.repeat(50_000))[0], type: 'autoLarge', originId: 'large' };
  const later = { ...large, originId: 'later', properties: { value: 7 } };
  assert.equal((await bulk([large, later, large])).status, 200);
  assert.deepEqual(await typesOf('autoLarge'), { value: 'date', padding: 'keywordText' });
  for (const value of [[1], 'one']) {
    const body = { type: 'autoSingle', properties: { value } };
    assert.equal((await front.call('POST', '/ingest/v2/auto-single', { key, body })).status, 200);
  }
  assert.deepEqual(await typesOf('autoSingle'), { value: 'double[]' });
  const refused = { type: 'autoOther', properties: { value: 1 } };
  assert.equal((await front.call('POST', '/ingest/v2/auto-single', { key, body: refused })).status, 422);
  assert.deepEqual(await typesOf('autoOther'), {});
});

test('ingest: an entity that is not published decides no types of auto-indexed fields', async () => {
  const typesOf = async (type: string) =>
    Object.fromEntries((await new AutoFields(front.store).read('one', sourceId, type)) ?? []);
  const of = (originId: string, value: unknown, times = {}) => ({
    originId,
    type: 'autoTimed',
    properties: { value },
    ...times,
  });
  const [waiting, over] = [{ publishAt: '2999-01-01T00:00Z' }, { unpublishAt: '2001-01-01T00:00Z' }];
  assert.equal((await bulk([of('waiting', 5, waiting), of('over', true, over)])).status, 200);
  assert.deepEqual(await typesOf('autoTimed'), {});
  const published = of('published', '2024-05-01', { publishAt: '2001-01-01T00:00Z' });
  assert.equal((await bulk([published, of('waiting', 'no date', waiting)])).status, 200);
  assert.deepEqual(await typesOf('autoTimed'), { value: 'date' });
  const large = {
    ...of('timedLarge', null, waiting),
    properties: { value: 'no date', text: 'x'.repeat(70_000) },
  };
  assert.equal((await bulk([large])).status, 200);
  assert.deepEqual(await typesOf('autoTimed'), { value: 'date' });
});
