/** Writes the configuration of a benchmark: tenants with one source, one environment and one client each. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '../../../src/contract/json.ts';

export interface BenchTenant {
  readonly alias: string;
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly indexes?: Readonly<Record<string, JsonObject>>;
  /** Full schemas in JavaScript. */
  readonly code?: Readonly<Record<string, string>>;
  /** Whether the source group is auto-indexed; absent for false. */
  readonly autoIndex?: boolean;
}

/** Alias of the source group of every tenant, for `triggers`. */
export const sourceGroup = 'main';

export function sourceKeyOf({ alias }: Pick<BenchTenant, 'alias'>): string {
  return `source-${alias}`;
}

export function clientKeyOf({ alias }: Pick<BenchTenant, 'alias'>): string {
  return `client-${alias}`;
}

export function writeTenants(configDir: string, tenants: readonly BenchTenant[]): void {
  for (const tenant of tenants) {
    const folder = path.join(configDir, 'tenants', tenant.alias);
    writeJson(path.join(folder, 'tenant.json'), tenantFile(tenant));
    for (const [alias, schema] of Object.entries(tenant.schemas)) {
      writeJson(path.join(folder, 'schemas', `${alias}.json`), schema);
    }
    for (const [alias, text] of Object.entries(tenant.code ?? {})) {
      mkdirSync(path.join(folder, 'schemas'), { recursive: true });
      writeFileSync(path.join(folder, 'schemas', `${alias}.full.js`), text);
    }
    for (const [alias, schema] of Object.entries(tenant.indexes ?? {})) {
      writeJson(path.join(folder, 'indexes', `${alias}.json`), schema);
    }
  }
}

function tenantFile(tenant: BenchTenant): JsonObject {
  const environment = { id: guidOf(`environment ${tenant.alias}`), alias: 'production' };
  return {
    environments: [environment],
    sourceGroups: [
      {
        alias: sourceGroup,
        autoIndex: tenant.autoIndex ?? false,
        sources: [
          {
            id: guidOf(`source ${tenant.alias}`),
            name: tenant.alias,
            environments: [environment.alias],
            apiKeys: [sourceKeyOf(tenant)],
          },
        ],
      },
    ],
    domains: [{ alias: 'site', hostnames: ['*'] }],
    environmentClients: [
      { name: 'bench', environment: environment.alias, domains: ['site'], apiKeys: [clientKeyOf(tenant)] },
    ],
  };
}

function guidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function writeJson(file: string, content: JsonObject): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content, null, 2));
}
