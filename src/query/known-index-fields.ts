/** The fields of an index: from its schema, or from auto-indexing. */
import type { Configuration, Tenant } from '../config/configuration.ts';
import { type IndexTexts, sameTexts } from '../schemas/definition/index-texts.ts';
import type { FieldType } from '../search/fields/field-type.ts';
import type { ScopedIndex } from '../store/derived/items.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { indexName } from '../store/keys.ts';

/** Where the field types of an index come from. */
export type IndexDefinition =
  | { readonly kind: 'schema'; readonly fields: ReadonlyMap<string, FieldType>; readonly texts: IndexTexts }
  | { readonly kind: 'auto'; readonly tenant: string; readonly sourceId: string; readonly type: string };

/** The definition of an index; null if it is not configured. */
export function definitionOf(
  configuration: Configuration,
  { scope, index }: ScopedIndex,
): IndexDefinition | null {
  const tenant = configuration.tenants.get(scope.tenant);
  if (!tenant?.environments.some(({ id }) => id === scope.environmentId)) return null;
  const [kind, name = '', ...type] = index.split(':');
  if (kind === 'auto') return autoDefinition(tenant, scope.environmentId, name, type.join(':'));
  const schema = tenant.indexes.get(index.slice(indexName.schema('').length));
  return schema === undefined ? null : { kind: 'schema', fields: schema.fields, texts: schema.texts };
}

/** The definition of an auto-indexed type; null if the group is not auto-indexed or has no source in the environment. */
export function autoDefinition(
  tenant: Tenant,
  environmentId: string,
  sourceGroup: string,
  type: string,
): IndexDefinition | null {
  if (tenant.sourceGroups.get(sourceGroup)?.autoIndex !== true) return null;
  const source = tenant.sourceIn(sourceGroup, environmentId);
  return source === null ? null : { kind: 'auto', tenant: tenant.alias, sourceId: source.id, type };
}

/** The fields that this process currently knows. */
export function knownFields(
  definition: IndexDefinition,
  autoFields: AutoFields,
): ReadonlyMap<string, FieldType> {
  if (definition.kind === 'schema') return definition.fields;
  return autoFields.known(definition.tenant, definition.sourceId, definition.type) ?? new Map();
}

/** See `AutoFields.decisions`. */
export function knownDecisions(definition: IndexDefinition, autoFields: AutoFields): number {
  if (definition.kind === 'schema') return 0;
  return autoFields.decisions(definition.tenant, definition.sourceId, definition.type);
}

/** A definition as a string, without the fields that auto-indexing finds. */
export function textOfDefinition(definition: IndexDefinition): string {
  if (definition.kind === 'auto') return JSON.stringify(definition);
  const { rules, synonyms } = definition.texts;
  return JSON.stringify([[...definition.fields], [...rules].sort(), synonyms]);
}

/** True if shards of both definitions give the same answers. */
export function sameDefinition(a: IndexDefinition, b: IndexDefinition): boolean {
  if (a.kind === 'auto') {
    // A shard follows type changes of fields by itself.
    return b.kind === 'auto' && a.sourceId === b.sourceId && a.type === b.type;
  }
  if (b.kind === 'auto' || a.fields.size !== b.fields.size || !sameTexts(a.texts, b.texts)) return false;
  return [...a.fields].every(([name, type]) => b.fields.get(name) === type);
}
