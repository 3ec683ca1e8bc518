/** The configuration of the HTTP tests: two tenants that use the same ids, and clients of every kind. */

import type { Configuration } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { JsonObject } from '../../../src/contract/json.ts';

export const environmentId = '11111111-1111-4111-8111-111111111111';
export const sourceId = '22222222-2222-4222-8222-222222222222';

/** API keys by their permissions. */
export const apiKeys = {
  source: 'source-one',
  client: 'client-one',
  delivery: 'client-delivery',
  routes: 'client-routes',
  query: 'client-query',
  sourceQuery: 'client-source',
  manager: 'manager-one',
  otherSource: 'source-two',
  otherClient: 'client-two',
} as const;

function tenant(keys: { source: string; clients: readonly object[]; managers?: readonly object[] }): string {
  return JSON.stringify({
    environments: [{ id: environmentId, alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        autoIndex: true,
        sources: [{ id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [keys.source] }],
      },
    ],
    domains: [
      { alias: 'site', hostnames: ['*'] },
      { alias: 'shop', hostnames: ['shop.example.com', 'shop.example.org'] },
    ],
    environmentClients: keys.clients,
    managementClients: keys.managers ?? [],
  });
}

function client(name: string, apiKey: string, scopes?: readonly string[]): object {
  return {
    name,
    environment: 'production',
    domains: ['site', 'shop'],
    apiKeys: [apiKey],
    ...(scopes === undefined ? {} : { scopes }),
  };
}

/** @param moreClients of tenant one: members of a client besides the environment */
export function testConfiguration(moreClients: readonly JsonObject[] = []): Configuration {
  const outcome = loadConfiguration(
    new Map([
      [
        'tenants/one/tenant.json',
        tenant({
          source: apiKeys.source,
          clients: [
            client('all', apiKeys.client),
            client('delivery', apiKeys.delivery, ['delivery']),
            client('routes', apiKeys.routes, ['routes']),
            client('query', apiKeys.query, ['query']),
            client('source', apiKeys.sourceQuery, ['source']),
            ...moreClients.map((more) => ({ environment: 'production', ...more })),
          ],
          managers: [{ name: 'manager', apiKeys: [apiKeys.manager] }],
        }),
      ],
      [
        'tenants/two/tenant.json',
        tenant({ source: apiKeys.otherSource, clients: [client('all', apiKeys.otherClient)] }),
      ],
    ]),
  );
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.issues));
  return outcome.configuration;
}
