import type { Json, JsonObject } from '../../../src/contract/json.ts';

/** A small valid tenant: one environment, one source, one client. */
export function siteTenant(changes: JsonObject = {}): JsonObject {
  return {
    environments: [{ id: 'env-1', alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
      },
    ],
    domains: [{ alias: 'site', hostnames: ['www.example.com', '*'] }],
    environmentClients: [
      { name: 'website', environment: 'production', domains: ['site'], apiKeys: ['client-key'] },
    ],
    ...changes,
  };
}

export const pageSchema: JsonObject = {
  triggers: { cms: ['page'] },
  route: { url: '{url}' },
  properties: { title: '{p.title}' },
};

/** Documents of tenants, as `readDocuments` returns them. */
export function documentsOf(files: Record<string, Json | string>): Map<string, string> {
  return new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : JSON.stringify(content),
    ]),
  );
}
