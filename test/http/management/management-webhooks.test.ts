/** A webhook test that reports why nothing was sent. After a restore webhooks have no secrets. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { startFront, type TestFront } from '../support/front.ts';

const document = {
  environments: [{ id: '11111111-1111-4111-8111-111111111111', alias: 'production' }],
  managementClients: [{ name: 'ops', apiKeys: ['management'], scopes: ['read', 'operate'] }],
  webhooks: [
    { alias: 'restored', environment: 'production', url: 'https://hooks.example.com/', secret: 'kept' },
    {
      alias: 'inside',
      environment: 'production',
      url: 'http://127.0.0.1:9/',
      secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
    },
  ],
};

let front: TestFront;
before(async () => {
  const loaded = loadConfiguration(
    new Map([['tenants/one/tenant.json', JSON.stringify(document)]]),
    'stored',
  );
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const configuration = { loaded: true, current: loaded.configuration, layouts: LayoutStates.none };
  front = await startFront({ services: { configuration } });
});
after(() => front.stop());

async function testOf(alias: string): Promise<[status: number, message: string]> {
  const path = `/management/v1/webhooks/${alias}/test`;
  const { status, json } = await front.call('POST', path, { key: 'management', body: {} });
  return [status, json.message];
}

test('management webhooks: a webhook without a secret reports that it needs one, not that its receiver is silent', async () => {
  assert.deepEqual(await testOf('restored'), [
    409,
    'The webhook has no secret, for example after a restore. Add one to tenant.json and try again',
  ]);
});

test('management webhooks: a forbidden receiver is not reported as silent', async () => {
  assert.deepEqual(await testOf('inside'), [
    502,
    'The test failed: 127.0.0.1 has no public address. To allow it, add it to WEBHOOK_ALLOW',
  ]);
});
