/** What an entity is made into: one maker for each view and each index item of each environment. Pure. */
import type { Configuration, Source, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import type { BuildInput } from '../../schemas/build/input.ts';
import type { LookupQuery } from '../../schemas/lookup/query.ts';
import type { FullSchema, IndexSchema } from '../../schemas/schema.ts';
import { digestOf } from '../../store/codec/digest.ts';
import { formatDependent } from '../../store/derived/dependents.ts';
import { indexName } from '../../store/keys.ts';
import { thingKey } from './made-key.ts';

interface MakerPlace {
  /** Tells it from the other makers of an entity: the `thingKey` of what it makes. */
  readonly key: string;
  readonly environmentId: string;
  /** Schema alias, or index name: the name under which the thing is stored. */
  readonly name: string;
  /** Changes whenever what is made of the same entity could differ. */
  readonly schemaDigest: string;
}

export type Maker =
  | (MakerPlace & { readonly kind: 'view'; readonly schema: FullSchema })
  | (MakerPlace & { readonly kind: 'item'; readonly schema: IndexSchema | null });

/** An auto-indexed item is a function of the entity alone. */
const autoIndexDigest = 'auto';

/** Where an entity stands in the configuration; null when its source is configured no more. */
export function placeOf(
  configuration: Configuration,
  tenantAlias: string,
  sourceId: string,
): { tenant: Tenant; source: Source } | null {
  const tenant = configuration.tenants.get(tenantAlias);
  const source = tenant?.sources.get(sourceId);
  return tenant === undefined || source === undefined ? null : { tenant, source };
}

const cachedTypesMax = 1000;
const makersOfTenant = new WeakMap<Tenant, Map<string, readonly Maker[]>>();

/** By their keys. */
export function makersFor(tenant: Tenant, source: Source, type: string): readonly Maker[] {
  const cached = makersOfTenant.get(tenant) ?? new Map<string, readonly Maker[]>();
  makersOfTenant.set(tenant, cached);
  const key = `${source.id}:${type}`;
  const known = cached.get(key);
  if (known !== undefined) return known;
  const makers = source.environments.flatMap(({ id }) => makersIn(id, tenant, source, type));
  makers.sort((a, b) => (a.key < b.key ? -1 : 1));
  // Types come from entities, so there may be any number of them.
  if (cached.size < cachedTypesMax) cached.set(key, makers);
  return makers;
}

function makersIn(environmentId: string, tenant: Tenant, source: Source, type: string): Maker[] {
  const group = source.sourceGroup;
  const resolution = resolutionDigest(tenant, environmentId);
  const makers: Maker[] = [];
  for (const schema of tenant.schemasFor(group, type)) {
    const schemaDigest = `${schema.digest}.${resolution}`;
    makers.push(keyed({ kind: 'view', environmentId, name: schema.alias, schemaDigest, schema }));
  }
  for (const schema of tenant.indexesFor(group, type)) {
    const schemaDigest = `${schema.digest}.${resolution}`;
    const name = indexName.schema(schema.alias);
    makers.push(keyed({ kind: 'item', environmentId, name, schemaDigest, schema }));
  }
  if (tenant.sourceGroups.get(group)?.autoIndex) {
    const name = indexName.auto(group, type);
    makers.push(keyed({ kind: 'item', environmentId, name, schemaDigest: autoIndexDigest, schema: null }));
  }
  return makers;
}

function keyed<T extends Omit<Maker, 'key'>>(maker: T): T & { readonly key: string } {
  return { ...maker, key: thingKey(maker) };
}

/** Which source each group means in an environment: lookups and references of the same schema follow it. */
function resolutionDigest(tenant: Tenant, environmentId: string): string {
  const resolved = [...tenant.sourceGroups.keys()]
    .sort()
    .map((group) => `${group}=${tenant.sourceIn(group, environmentId)?.id ?? ''}`);
  return digestOf(resolved.join('|')).toString('base64url');
}

/** Name of what a maker makes of an entity, as lookups register it and marks carry it. */
export function memberOf(
  maker: Maker,
  { sourceId, originId }: { sourceId: string; originId: string },
): string {
  const { kind, environmentId, name } = maker;
  return formatDependent({ kind, environmentId, name, sourceId, originId });
}

type LookupAnswer = (query: LookupQuery) => readonly StoredEntity[] | undefined;

export function buildInput(
  tenant: Tenant,
  entity: StoredEntity,
  environmentId: string,
  lookup: LookupAnswer,
): BuildInput {
  return new TenantInput(tenant, entity, environmentId, lookup);
}

class TenantInput implements BuildInput {
  constructor(
    private readonly tenant: Tenant,
    readonly entity: StoredEntity,
    readonly environmentId: string,
    readonly lookup: LookupAnswer,
  ) {}

  resolveSource(sourceGroup: string): string | null {
    return this.tenant.sourceIn(sourceGroup, this.environmentId)?.id ?? null;
  }

  partial(alias: string) {
    return this.tenant.partials.get(alias);
  }
}
