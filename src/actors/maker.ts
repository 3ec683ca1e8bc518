/** What an entity is made into: one maker for each view and each index item of each environment. Pure. */
import type { Configuration, Source, Tenant } from '../config/types.ts';
import type { StoredEntity } from '../contract/entity.ts';
import type { BuildInput, FullSchema, IndexSchema, LookupQuery } from '../schemas/types.ts';
import { formatDependent } from '../store/dependents.ts';
import { indexName } from '../store/keys.ts';

interface MakerPlace {
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

/** In a fixed order: environments as configured, then schemas, then indexes, by alias. */
export function makersFor(tenant: Tenant, source: Source, type: string): Maker[] {
  const makers: Maker[] = [];
  const autoIndexed = tenant.sourceGroups.get(source.sourceGroup)?.autoIndex === true;
  for (const { id: environmentId } of source.environments) {
    for (const schema of tenant.schemasFor(source.sourceGroup, type)) {
      makers.push({ kind: 'view', environmentId, name: schema.alias, schemaDigest: schema.digest, schema });
    }
    for (const schema of tenant.indexesFor(source.sourceGroup, type)) {
      const name = indexName.schema(schema.alias);
      makers.push({ kind: 'item', environmentId, name, schemaDigest: schema.digest, schema });
    }
    if (autoIndexed) {
      const name = indexName.auto(source.sourceGroup, type);
      makers.push({ kind: 'item', environmentId, name, schemaDigest: autoIndexDigest, schema: null });
    }
  }
  return makers;
}

/** Name of what a maker makes of an entity, as lookups register it and marks carry it. */
export function memberOf(
  maker: Maker,
  { sourceId, originId }: { sourceId: string; originId: string },
): string {
  const { kind, environmentId, name } = maker;
  return formatDependent({ kind, environmentId, name, sourceId, originId });
}

export function buildInput(
  tenant: Tenant,
  entity: StoredEntity,
  environmentId: string,
  lookup: (query: LookupQuery) => readonly StoredEntity[] | undefined,
): BuildInput {
  return {
    entity,
    environmentId,
    resolveSource: (sourceGroup) => tenant.sourceIn(sourceGroup, environmentId)?.id ?? null,
    lookup,
    partial: (alias) => tenant.partials.get(alias),
  };
}
