/** Builders of the outputs of an entity, one for each schema and environment, and the Redis keys of these outputs. Pure. */
import type { Configuration, Source, Tenant } from '../../config/configuration.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { FullSchema, IndexSchema } from '../../schemas/schema.ts';
import { strongDigest } from '../../store/codec/digest.ts';
import { type NameList, nameListFor } from '../../store/codec/name-lists.ts';
import { formatDependent } from '../../store/derived/dependents.ts';
import { indexName, keys, viewField } from '../../store/keys.ts';
import type { SourceRef } from '../../store/scopes.ts';

/** Identifies a view or index item of an entity. */
export interface OutputName {
  readonly kind: 'view' | 'item';
  readonly environmentId: string;
  /** Schema alias or index name; part of the stored key. */
  readonly name: string;
}

interface BuilderIdentity extends OutputName {
  /** The `outputKey` of its output, unique among the builders of an entity. */
  readonly key: string;
  /** Changes whenever the output of the same entity could differ. */
  readonly schemaDigest: string;
}

export type Builder =
  | (BuilderIdentity & { readonly kind: 'view'; readonly schema: FullSchema })
  | (BuilderIdentity & { readonly kind: 'item'; readonly schema: IndexSchema | null });

/** Schema digest of an output that may have been built by an earlier schema. */
export const outdatedDigest = '';
/** An auto-indexed item only depends on the entity. */
const autoIndexDigest = 'auto';
/**
 * Length of a schema digest. 96 bits, because authors could search for two schemas with the same digest. It is short because
 * each record has it.
 */
const digestCharacters = 16;
/** Records of earlier versions have a weaker digest. */
const formerDigestCharacters = 11;

/** The tenant and source of an entity; null if its source is no longer configured. */
export function placeOf(
  configuration: Configuration,
  ref: SourceRef,
): { tenant: Tenant; source: Source } | null {
  const tenant = configuration.tenants.get(ref.tenant);
  const source = tenant?.sources.get(ref.sourceId);
  return tenant === undefined || source === undefined ? null : { tenant, source };
}

const cachedTypesMax = 1000;
const buildersOfTenant = new WeakMap<Tenant, BoundedCache<string, readonly Builder[]>>();

/** The builders for entities of a type, sorted by key. */
export function buildersFor(tenant: Tenant, source: Source, type: string): readonly Builder[] {
  // The number of types is unlimited, because they come from entities.
  const kept = buildersOfTenant.get(tenant) ?? new BoundedCache({ entriesMax: cachedTypesMax });
  buildersOfTenant.set(tenant, kept);
  return kept.getOrCreate(`${source.id}:${type}`, () =>
    source.environments
      .flatMap(({ id }) => buildersIn(id, tenant, source, type))
      .sort((a, b) => (a.key < b.key ? -1 : 1)),
  );
}

/** The builder of a schema in an environment. It is the same for all entities that trigger the schema. */
export function builderOf(
  tenant: Tenant,
  environmentId: string,
  schema:
    | { readonly kind: 'full'; readonly schema: FullSchema }
    | { readonly kind: 'index'; readonly schema: IndexSchema }
    | { readonly kind: 'auto'; readonly sourceGroup: string; readonly type: string },
): Builder {
  if (schema.kind === 'auto') return autoBuilder(environmentId, schema.sourceGroup, schema.type);
  const schemaDigest = builderDigest(schema.schema, tenant, environmentId);
  const name = schema.schema.alias;
  return schema.kind === 'full'
    ? keyed({ kind: 'view', environmentId, name, schemaDigest, schema: schema.schema })
    : keyed({
        kind: 'item',
        environmentId,
        name: indexName.schema(name),
        schemaDigest,
        schema: schema.schema,
      });
}

function buildersIn(environmentId: string, tenant: Tenant, source: Source, type: string): Builder[] {
  const group = source.sourceGroup;
  const builders: Builder[] = [];
  for (const schema of tenant.schemasFor(group, type)) {
    if (!schema.makesView) continue;
    const schemaDigest = builderDigest(schema, tenant, environmentId);
    builders.push(keyed({ kind: 'view', environmentId, name: schema.alias, schemaDigest, schema }));
  }
  for (const schema of tenant.indexesFor(group, type)) {
    const schemaDigest = builderDigest(schema, tenant, environmentId);
    const name = indexName.schema(schema.alias);
    builders.push(keyed({ kind: 'item', environmentId, name, schemaDigest, schema }));
  }
  if (tenant.sourceGroups.get(group)?.autoIndex) builders.push(autoBuilder(environmentId, group, type));
  return builders;
}

function autoBuilder(environmentId: string, group: string, type: string): Builder {
  const name = indexName.auto(group, type);
  return keyed({ kind: 'item', environmentId, name, schemaDigest: autoIndexDigest, schema: null });
}

function keyed<T extends Omit<Builder, 'key'>>(builder: T): T & { readonly key: string } {
  return { ...builder, key: outputKey(builder) };
}

function builderDigest(schema: FullSchema | IndexSchema, tenant: Tenant, environmentId: string): string {
  return strongDigest(`${schema.digest}.${resolutionOf(schema, tenant, environmentId)}`, digestCharacters);
}

/**
 * True for the digest in a record of an earlier version. It matches no schema, so the next rebuild builds the output again.
 */
export function isFormerDigest(schemaDigest: string): boolean {
  return schemaDigest.length === formerDigestCharacters;
}

/** The source in the environment of each group that the schema can read: its lookups and references depend on it. */
function resolutionOf(
  { sourceGroups }: FullSchema | IndexSchema,
  tenant: Tenant,
  environmentId: string,
): string {
  const resolved = [...(sourceGroups ?? tenant.sourceGroups.keys())]
    .sort()
    .map((group) => `${group}=${tenant.sourceIn(group, environmentId)?.id ?? ''}`);
  return resolved.join('|');
}

/** Identifies an output of an entity. */
export function outputKey({ kind, environmentId, name }: OutputName): string {
  return `${kind}:${environmentId}:${name}`;
}

/** Name of an output in registrations of lookups and in invalidations. */
export function dependentOf(
  { kind, environmentId, name }: OutputName,
  { sourceId, originId }: EntityRef,
): string {
  return formatDependent({ kind, environmentId, name, sourceId, originId });
}

/** The names that stored items of an index omit; null for auto-indexed types, whose names are not known in advance. */
export function itemNameList(builder: Builder): NameList | null {
  return builder.kind === 'item' && builder.schema !== null ? nameListFor(builder.schema.names) : null;
}

/** The Redis hash with the outputs of a name, for the entities of a source in a partition. */
export function outputHash(
  tag: string,
  { tenant, sourceId }: SourceRef,
  { kind, environmentId, name }: OutputName,
): string {
  return kind === 'view'
    ? keys.views(tag, tenant, environmentId, sourceId)
    : keys.items(tag, tenant, environmentId, sourceId, name);
}

/** The field of an entity's output in that hash. */
export function outputField(
  { kind, name }: Pick<OutputName, 'kind' | 'name'>,
  { originId }: Pick<EntityRef, 'originId'>,
): string {
  return kind === 'view' ? viewField(name, originId) : originId;
}
