/** Reasons to refuse a valid configuration: what the other tenants of the store have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { documentsDigest } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { openBurstSeconds } from '../../../src/contract/limits.ts';
import { Buckets } from '../../../src/http/routing/admission.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import { bytesMoved } from '../../support/redis.ts';
import { startFront, type TestFront } from '../support/front.ts';

const own = { managementClients: [{ name: 'ops', apiKeys: ['one-key'] }] };
const other = { managementClients: [{ name: 'ops', apiKeys: ['two-key'] }] };
const withGroup = {
  ...own,
  environments: [{ id: 'e', alias: 'e' }],
  sourceGroups: [{ alias: 'cms', sources: [{ id: 's', name: 'CMS', environments: ['e'], apiKeys: [] }] }],
};
const documentsWith = (two: object) =>
  new Map([
    ['tenants/one/tenant.json', JSON.stringify(own)],
    ['tenants/two/tenant.json', JSON.stringify(two)],
  ]);

let configuration: Configuration;
let front: TestFront;
before(async () => {
  const loaded = loadConfiguration(documentsWith(other));
  assert.ok(loaded.ok, JSON.stringify(loaded));
  configuration = loaded.configuration;
  front = await startFront({
    services: { configuration: { loaded: true, current: configuration, layouts: LayoutStates.none } },
  });
});
after(() => front.stop());

/** Puts a document as the tenant `one`. */
async function put(document: object): Promise<[status: number, message: string, errors?: string[]]> {
  const { status, json } = await front.call('PUT', '/management/v1/configuration', {
    key: 'one-key',
    body: { documents: { 'tenant.json': JSON.stringify(document) } },
  });
  return [status, json.message, json.errors];
}

const hook = {
  alias: 'purge',
  environment: 'e',
  url: 'https://one.example/hook',
  secret: 'whsec_c2VjcmV0',
  headers: { 'X-Token': 'token' },
};
const withHook = (webhook: object) => ({
  ...own,
  environments: [{ id: 'e', alias: 'e' }],
  webhooks: [{ ...hook, ...webhook }],
});

test('management configuration: a stored secret or header is sent to no other origin', async () => {
  const documents = new Map([
    ['tenants/one/tenant.json', JSON.stringify(withHook({}))],
    ['tenants/two/tenant.json', JSON.stringify(other)],
  ]);
  const loaded = loadConfiguration(documents);
  assert.ok(loaded.ok);
  await publishConfiguration(front.store, documents, loaded.configuration);
  const kept = { secret: 'kept', headers: { 'X-Token': 'kept' } };
  const [status, , errors] = await put(withHook({ ...kept, url: 'https://two.example/hook' }));
  assert.deepEqual(
    [status, errors],
    [
      422,
      [
        'tenant.json: $.webhooks[0].secret: `kept` cannot be used with a new address. Send the value itself, or the previous `url`',
        "tenant.json: $.webhooks[0].headers['x-token']: `kept` cannot be used with a new address. Send the value itself, or the previous `url`",
      ],
    ],
  );
  assert.equal((await put(withHook({ ...kept, url: 'https://one.example/other' })))[0], 200);
  assert.equal((await put(withHook({ url: 'https://two.example/hook' })))[0], 200);
});

test('management configuration: a schema cannot import the tenant file, so errors cannot contain a stored secret', async () => {
  const documents = new Map([['tenants/one/tenant.json', JSON.stringify(withHook({}))]]);
  const loaded = loadConfiguration(documents);
  assert.ok(loaded.ok);
  await publishConfiguration(front.store, documents, loaded.configuration);
  const schema = `import file from '../tenant.json';
export default { triggers() { throw new Error(file.webhooks[0].secret); }, properties: () => ({}) };`;
  const { status, text, json } = await front.call('PUT', '/management/v1/configuration', {
    key: 'one-key',
    body: {
      documents: {
        'tenant.json': JSON.stringify(withHook({ secret: 'kept' })),
        'schemas/page.full.js': schema,
      },
    },
  });
  assert.equal(status, 422);
  assert.match(json.errors.join(), /"\.\.\/tenant\.json" contains secrets and cannot be imported/);
  assert.ok(!text.includes(hook.secret), text);
});

test('management configuration: many new keys delay the next new keys of their tenant, and no request without a key', async () => {
  const limited = await startFront({
    openRateLimit: 2,
    services: { configuration: { loaded: true, current: configuration, layouts: LayoutStates.none } },
  });
  after(() => limited.stop());
  await publishConfiguration(limited.store, documentsWith(other), configuration);
  const putKeys = async (apiKeys: readonly string[]) => {
    const document = { managementClients: [{ name: 'ops', apiKeys: ['one-key', ...apiKeys] }] };
    return await limited.call('PUT', '/management/v1/configuration?dryRun=true', {
      key: 'one-key',
      body: { documents: { 'tenant.json': JSON.stringify(document) } },
    });
  };
  const many = (count: number) => Array.from({ length: count }, (_, at) => `new-${at}`);
  assert.equal((await putKeys(many(100))).status, 422, 'too many for a client, and not counted');
  assert.equal((await putKeys(many(99))).status, 200);
  const next = await putKeys(['another']);
  assert.deepEqual(
    [next.status, next.json.message],
    [
      429,
      'Too many new API keys in configurations of this tenant. Wait the number of seconds in Retry-After',
    ],
  );
  assert.ok(Number(next.headers.get('retry-after')) > 10);
  assert.equal((await limited.call('GET', '/health/live')).status, 200);
});

test('management configuration: guesses beyond a burst are charged later, and a client has at most 100 keys', () => {
  const limit = new Buckets(1, openBurstSeconds);
  assert.equal(limit.take('one', 0, 500), 0, 'a full bucket can go into debt');
  assert.equal(limit.take('one', 0, 1), 496);
  assert.equal(limit.take('two', 0, 1), 0, 'each tenant has its own');
  const many = Array.from({ length: 101 }, (_, at) => `many-${at}`);
  const loaded = loadConfiguration(documentsWith({ managementClients: [{ name: 'ops', apiKeys: many }] }));
  assert.ok(!loaded.ok && loaded.issues[0]?.message.includes('at most 100 are allowed'));
});

test('management configuration: a tenant has at most five pending dry runs', async () => {
  const dryRun = () =>
    front.call('PUT', '/management/v1/configuration?dryRun=true', {
      key: 'one-key',
      body: { documents: { 'tenant.json': JSON.stringify(own) } },
    });
  for (let number = 0; number < 5; number += 1) assert.equal((await dryRun()).status, 200);
  const sixth = await dryRun();
  assert.deepEqual(
    [sixth.status, sixth.json.message],
    [429, 'Too many pending dry runs. The limit is 5 for each tenant; wait until one has ended'],
  );
});

test('management configuration: putting, previewing and reading a configuration transfers no document of another tenant', async (context) => {
  const long = JSON.stringify({
    triggers: { cms: ['page'] },
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`text${at}`, 'x'.repeat(40_000)])),
  });
  const documents = new Map([
    ['tenants/one/tenant.json', JSON.stringify(withGroup)],
    ...Array.from({ length: 4 }, (_, at): [string, string] => [
      `tenants/two/schemas/page${at}.full.json`,
      long,
    ]),
    ['tenants/two/tenant.json', JSON.stringify({ ...withGroup, ...other })],
  ]);
  const loaded = loadConfiguration(documents);
  assert.ok(loaded.ok, 'the documents are valid');
  const beside = await startFront({
    services: {
      configuration: { loaded: true, current: loaded.configuration, layouts: LayoutStates.none },
    },
  });
  context.after(() => beside.stop());
  await publishConfiguration(beside.store, documents, loaded.configuration);
  const schema = JSON.stringify({ triggers: { cms: ['page'] }, properties: { title: '{p.title}' } });
  const changed = { 'tenant.json': JSON.stringify(withGroup), 'schemas/page.json': schema };
  const preview = {
    schema: { kind: 'full', language: 'json', text: schema },
    entity: { originId: '1', type: 'page', url: '/', properties: { title: 'One' } },
    sourceGroup: 'cms',
    environment: 'e',
  };
  for (const [method, path, body] of [
    ['PUT', '/management/v1/configuration?dryRun=true', { documents: changed }],
    ['PUT', '/management/v1/configuration', { documents: changed }],
    ['POST', '/management/v1/preview', preview],
    ['GET', '/management/v1/configuration', undefined],
    ['GET', '/management/v1/tenant', undefined],
  ] as const) {
    const startedBytes = await bytesMoved(beside.store.client);
    const { status, text } = await beside.call(method, path, { key: 'one-key', body });
    assert.equal(status, 200, text);
    const bytes = (await bytesMoved(beside.store.client)) - startedBytes;
    assert.ok(bytes < 100_000, `${method} ${path}: ${bytes} bytes went to and from Redis`);
  }
});

test('management configuration: a key of another tenant is an error that does not name the tenant', async () => {
  await publishConfiguration(front.store, documentsWith(other), configuration);
  assert.deepEqual(await put({ managementClients: [{ name: 'ops', apiKeys: ['one-key', 'two-key'] }] }), [
    422,
    'The configuration is not valid',
    ['tenant.json: one of its API keys is already in use. Create another one'],
  ]);
});

test('management configuration: unreadable documents of other tenants are not reported as a key in use', async () => {
  const ofAnotherVersion = documentsWith({ ...other, environments: 'in another form' });
  const digest = documentsDigest(ofAnotherVersion);
  await publishConfiguration(front.store, ofAnotherVersion, { ...configuration, digest });
  const [status, message] = await put({ ...own, webhooks: [] });
  assert.deepEqual(
    [status, message],
    [
      409,
      'The active configuration was written by another version of Millrace. Update all processes to that version, then send this again',
    ],
  );
});
