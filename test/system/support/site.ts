/** Configuration files of one tenant with one environment and one source, for tests that need no more. */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { ConfigFiles } from './processes/system.ts';

export const environmentId = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
export const sourceId = '32eb0c68-0f2c-4a52-9a5c-6f2f1f6c2d11';
export const sourceKey = 'source-key-of-the-system-tests';
export const clientKey = 'client-key-of-the-system-tests';
export const managementKey = 'management-key-of-the-system-tests';

export function viewIdOf(originId: string, alias = 'page'): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}

export interface SiteParts {
  readonly tenant?: string;
  /** Prefix of the keys, which must differ between tenants. */
  readonly keyPrefix?: string;
  readonly schemas?: Readonly<Record<string, Json>>;
  readonly partials?: Readonly<Record<string, Json>>;
  readonly indexes?: Readonly<Record<string, Json>>;
  /** JavaScript and TypeScript files by their paths in the tenant's folder. */
  readonly code?: Readonly<Record<string, string>>;
  /** Members of `tenant.json` that replace the usual ones. */
  readonly settings?: JsonObject;
}

/** The source group is `cms`; it is auto-indexed. */
export function siteFiles({
  tenant = 'acme',
  keyPrefix = '',
  schemas,
  partials,
  indexes,
  code,
  settings,
}: SiteParts): ConfigFiles {
  const files: Record<string, Json> = {
    [`tenants/${tenant}/tenant.json`]: {
      environments: [{ id: environmentId, alias: 'production' }],
      sourceGroups: [
        {
          alias: 'cms',
          autoIndex: true,
          sources: [
            { id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [keyPrefix + sourceKey] },
          ],
        },
      ],
      domains: [{ alias: 'site', hostnames: ['*'] }],
      environmentClients: [
        { name: 'website', environment: 'production', domains: ['site'], apiKeys: [keyPrefix + clientKey] },
      ],
      ...settings,
    },
  };
  for (const [folder, members] of Object.entries({ schemas, partials, indexes })) {
    for (const [alias, json] of Object.entries(members ?? {})) {
      files[`tenants/${tenant}/${folder}/${alias}.json`] = json;
    }
  }
  for (const [file, text] of Object.entries(code ?? {})) files[`tenants/${tenant}/${file}`] = text;
  return files;
}
