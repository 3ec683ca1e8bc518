/** Webhooks that only a store can have: after a restore they have no secrets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { startFront } from '../support/front.ts';

const document = {
  environments: [{ id: '11111111-1111-4111-8111-111111111111', alias: 'production' }],
  managementClients: [{ name: 'ops', apiKeys: ['management'], scopes: ['read', 'operate'] }],
  webhooks: [
    { alias: 'restored', environment: 'production', url: 'https://hooks.example.com/', secret: 'kept' },
  ],
};

test('a webhook without a secret says that it needs one, and not that its receiver is silent', async (context) => {
  const loaded = loadConfiguration(
    new Map([['tenants/one/tenant.json', JSON.stringify(document)]]),
    'stored',
  );
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const configuration = { current: loaded.configuration, layouts: LayoutStates.none };
  const front = await startFront({ services: { configuration } });
  context.after(() => front.stop());
  const { status, json } = await front.call('POST', '/management/v1/webhooks/restored/test', {
    key: 'management',
    body: {},
  });
  assert.deepEqual(
    [status, json.message],
    [409, 'The webhook has no secret, as after a restore: write one into tenant.json, then try again'],
  );
});
