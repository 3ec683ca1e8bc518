/** `GET /management/v1/tenant`: an overview of a tenant (docs/reference/management.md "The tenant"). */

import type { Environment, Source, SourceGroup, Tenant } from '../../config/configuration.ts';
import { parseDocumentPath, type SchemaFolder } from '../../config/document-path.ts';
import type { TenantAnswer } from '../../contract/shapes-management.ts';
import { sum } from '../../lib/lists.ts';
import { countViews } from '../../store/change-log/logged-views.ts';
import { readTenant } from '../../store/configuration/published-configuration.ts';
import { countTypes } from '../../store/entities/directory.ts';
import { indexName } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { jsonAnswer } from '../answer.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { itemsOf } from './management-status.ts';

export function managementTenant({ store, configuration }: Services): Handler {
  return async (call) => {
    const { tenant } = call.manager;
    const clients = configuration.current.clients.filter((client) => client.tenant.alias === tenant.alias);
    const [sourceGroups, views, indexes, languages] = await Promise.all([
      Promise.all([...tenant.sourceGroups.values()].map((group) => groupOf(store, tenant, group))),
      viewsOf(store, tenant),
      indexesOf(store, tenant),
      languagesOf(store, tenant),
    ]);
    return jsonAnswer<TenantAnswer>(200, {
      alias: tenant.alias,
      environments: tenant.environments.map(({ id, alias }) => ({ id, alias })),
      sourceGroups,
      domains: tenant.domains.map(({ alias, hostnames }) => ({ alias, hostnames })),
      schemas: schemasOf(tenant, views, languages),
      indexes,
      clients: clients.map(({ name, environment, domains, scopes }) => ({
        name,
        environment: environment.alias,
        domains: domains.map(({ alias }) => alias),
        scopes: [...scopes],
      })),
    });
  };
}

async function groupOf(
  store: Store,
  tenant: Tenant,
  group: SourceGroup,
): Promise<TenantAnswer['sourceGroups'][number]> {
  const types = new Map<string, number>();
  for (const { id: sourceId } of group.sources) {
    for (const [type, count] of await countTypes(store, { tenant: tenant.alias, sourceId })) {
      types.set(type, (types.get(type) ?? 0) + count);
    }
  }
  return {
    alias: group.alias,
    autoIndex: group.autoIndex,
    sources: group.sources.map(shownSource),
    types: [...types].map(([type, entities]) => ({ type, entities })),
  };
}

function shownSource({
  id,
  name,
  environments,
}: Source): TenantAnswer['sourceGroups'][number]['sources'][number] {
  return { id, name, environments: environments.map(({ alias }) => alias) };
}

/** Number of views by schema, in all environments together. */
async function viewsOf(store: Store, { alias, environments }: Tenant): Promise<ReadonlyMap<string, number>> {
  const counts = await Promise.all(
    environments.map(({ id }) => countViews(store, { tenant: alias, environmentId: id })),
  );
  const sums = new Map<string, number>();
  for (const [schema, count] of counts.flatMap((ofEnvironment) => [...ofEnvironment])) {
    sums.set(schema, (sums.get(schema) ?? 0) + count);
  }
  return sums;
}

/** `<kind>:<alias>` -> the language of the schema. */
async function languagesOf(store: Store, { alias: tenant }: Tenant): Promise<ReadonlyMap<string, Language>> {
  const published = await readTenant(store, tenant);
  const languages = new Map<string, Language>();
  for (const path of published?.documents.keys() ?? []) {
    const parsed = parseDocumentPath(path);
    if (parsed === null || !('alias' in parsed) || parsed.tenant !== tenant) continue;
    languages.set(`${parsed.kind}:${parsed.alias}`, languageOf(path));
  }
  return languages;
}

type Language = TenantAnswer['schemas'][number]['language'];

function languageOf(path: string): Language {
  if (path.endsWith('.ts')) return 'ts';
  return path.endsWith('.js') ? 'js' : 'json';
}

function schemasOf(
  { schemas, partials, indexes }: Tenant,
  views: ReadonlyMap<string, number>,
  languages: ReadonlyMap<string, Language>,
): TenantAnswer['schemas'] {
  const language = (folder: SchemaFolder, alias: string) => languages.get(`${folder}:${alias}`) ?? 'json';
  return [
    ...[...schemas.values()].map(({ alias, triggers }) => ({
      alias,
      kind: 'full' as const,
      language: language('schemas', alias),
      triggers: shownTriggers(triggers),
      views: views.get(alias) ?? 0,
    })),
    ...[...partials.keys()].map((alias) => ({
      alias,
      kind: 'partial' as const,
      language: language('partials', alias),
      triggers: {},
      views: 0,
    })),
    ...[...indexes.values()].map(({ alias, triggers }) => ({
      alias,
      kind: 'index' as const,
      language: language('indexes', alias),
      triggers: shownTriggers(triggers),
      views: 0,
    })),
  ];
}

function shownTriggers(
  triggers: ReadonlyMap<string, ReadonlySet<string>>,
): TenantAnswer['schemas'][number]['triggers'] {
  return Object.fromEntries([...triggers].map(([group, types]) => [group, [...types]]));
}

async function indexesOf(store: Store, tenant: Tenant): Promise<TenantAnswer['indexes']> {
  return await Promise.all(
    [...tenant.indexes.keys()].map(async (alias) => ({
      alias,
      items: await itemsIn(store, tenant, tenant.environments, alias),
    })),
  );
}

async function itemsIn(
  store: Store,
  { alias: tenant }: Tenant,
  environments: readonly Environment[],
  alias: string,
): Promise<number> {
  const index = indexName.schema(alias);
  const counts = await Promise.all(
    environments.map(({ id }) => itemsOf(store, { scope: { tenant, environmentId: id }, index })),
  );
  return sum(counts);
}
