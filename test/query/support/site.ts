/** A small configuration: one tenant with one environment, indexes of given fields and one auto-indexed source group. */
import type {
  ClientPrincipal,
  Configuration,
  Environment,
  Source,
  SourceGroup,
  Tenant,
} from '../../../src/config/configuration.ts';
import { everyIndex } from '../../../src/config/tenant/index-patterns.ts';
import type { FieldTypeName } from '../../../src/schemas/definition/index-fields.ts';
import type { IndexTexts } from '../../../src/schemas/definition/index-texts.ts';
import type { FullSchema, IndexSchema } from '../../../src/schemas/schema.ts';

export const environment: Environment = { id: 'env-1', alias: 'production' };
export const sourceId = 'source-1';

export type IndexFields = Record<string, FieldTypeName>;

function indexSchema(alias: string, fields: IndexFields, texts: IndexTexts): IndexSchema {
  return {
    alias,
    digest: JSON.stringify(fields),
    triggers: new Map([['cms', new Set(['page'])]]),
    lookupPlans: [],
    sourceGroups: new Set(),
    texts,
    collations: new Map(),
    metadata: { index: null, fields: new Map() },
    fields: new Map(Object.entries(fields)),
    names: Object.keys(fields),
    build: () => {
      throw new Error('the test writes items itself');
    },
  };
}

function fullSchema(alias: string): FullSchema {
  const unused = () => {
    throw new Error('no view is built here');
  };
  const schema = {
    alias,
    digest: alias,
    triggers: new Map(),
    lookupPlans: [],
    sourceGroups: new Set<string>(),
  };
  return {
    ...schema,
    makesView: true,
    hasActions: false,
    claimsUrl: false,
    claims: unused,
    build: unused,
    actions: unused,
    destinations: unused,
  };
}

/** @param texts of all indexes */
export function tenantOf(
  indexes: Readonly<Record<string, IndexFields>>,
  alias = 'acme',
  texts: IndexTexts = { rules: new Map(), synonyms: [] },
): Tenant {
  const source: Source = {
    id: sourceId,
    name: 'CMS',
    sourceGroup: 'cms',
    environments: [environment],
    propertiesOptional: false,
  };
  const quiet: Source = { ...source, id: 'source-2', sourceGroup: 'quiet' };
  const groups: SourceGroup[] = [
    { alias: 'cms', autoIndex: true, sources: [source] },
    { alias: 'quiet', autoIndex: false, sources: [quiet] },
  ];
  return {
    alias,
    urlForm: 'exact',
    environments: [environment],
    domains: [],
    webhooks: [],
    sourceGroups: new Map(groups.map((group) => [group.alias, group])),
    sources: new Map([source, quiet].map((one) => [one.id, one])),
    schemas: new Map(['page', 'teaser'].map((name) => [name, fullSchema(name)])),
    partials: new Map(),
    indexes: new Map(
      Object.entries(indexes).map(([name, fields]) => [name, indexSchema(name, fields, texts)]),
    ),
    lookupLayouts: new Map(),
    runtimeLookupCount: 0,
    sourceIn: (group, environmentId) =>
      environmentId === environment.id
        ? (groups.find((one) => one.alias === group)?.sources[0] ?? null)
        : null,
    schemasFor: () => [],
    indexesFor: () => [],
  };
}

export function configurationOf(...tenants: Tenant[]): Configuration {
  return {
    digest: 'test',
    tenants: new Map(tenants.map((tenant) => [tenant.alias, tenant])),
    clients: [],
    authenticate: () => null,
  };
}

export function clientOf(tenant: Tenant): ClientPrincipal {
  const scopes = new Set(['query', 'source'] as const);
  return {
    kind: 'client',
    tenant,
    environment,
    name: 'test',
    domains: [],
    scopes,
    origins: null,
    cacheControl: null,
    cacheTags: null,
    depth: null,
    indexes: everyIndex,
  };
}
