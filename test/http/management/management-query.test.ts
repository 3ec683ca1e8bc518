import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientPrincipal } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { QueryService } from '../../../src/query/query-service.ts';
import { resultText } from '../../../src/query/result/result-text.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { startFront } from '../support/front.ts';
import { environmentId } from '../support/site.ts';

test('management query: all managers of an environment are one client and share its limits', async (context) => {
  const tenant = {
    environments: [{ id: environmentId, alias: 'production' }],
    managementClients: ['one', 'two'].map((name) => ({ name, apiKeys: [`${name}-key`] })),
  };
  const outcome = loadConfiguration(new Map([['tenants/one/tenant.json', JSON.stringify(tenant)]]));
  assert.ok(outcome.ok);
  const clients: ClientPrincipal[] = [];
  const text = resultText(0, [], { facets: [], nextPageToken: null });
  const query: QueryService = {
    run: async (client) => {
      clients.push(client);
      return [{ ok: true, result: { kind: 'text', text }, subject: 'items', configuration: null }];
    },
  };
  const configuration = { loaded: true, current: outcome.configuration, layouts: LayoutStates.none };
  const front = await startFront({ services: { configuration, query } });
  context.after(() => front.stop());
  for (const key of ['one-key', 'two-key']) {
    const path = '/management/v1/query?environment=production';
    const { status } = await front.call('POST', path, { key, body: { index: 'any' } });
    assert.equal(status, 200);
  }
  const [one, two] = clients;
  assert.ok(one !== undefined && one === two);
});
