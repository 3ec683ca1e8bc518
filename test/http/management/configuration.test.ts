/** What refuses a configuration that is sound by itself: what the other tenants of the store have. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { documentsDigest } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { publishConfiguration } from '../../../src/store/configuration/published-configuration.ts';
import { startFront, type TestFront } from '../support/front.ts';

const own = { managementClients: [{ name: 'ops', apiKeys: ['one-key'] }] };
const other = { managementClients: [{ name: 'ops', apiKeys: ['two-key'] }] };
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

test('a key that another tenant has is a mistake that does not name the tenant', async () => {
  await publishConfiguration(front.store, documentsWith(other), configuration);
  assert.deepEqual(await put({ managementClients: [{ name: 'ops', apiKeys: ['one-key', 'two-key'] }] }), [
    422,
    'The configuration is not valid',
    ['tenant.json: one of its API keys is taken: make another one'],
  ]);
});

test('documents of others that this version cannot read are not told to be a key that is taken', async () => {
  const ofAnotherVersion = documentsWith({ ...other, environments: 'in another form' });
  const digest = documentsDigest(ofAnotherVersion);
  await publishConfiguration(front.store, ofAnotherVersion, { ...configuration, digest });
  const [status, message] = await put({ ...own, webhooks: [] });
  assert.deepEqual(
    [status, message],
    [
      409,
      'What is active was made by another version of Millrace: update all processes to that one, then send this again',
    ],
  );
});
