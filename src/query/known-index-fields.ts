/** The fields of an index: from its schema, or as auto-indexing decided them. */
import type { Configuration, Tenant } from '../config/configuration.ts';
import { type IndexTexts, sameTexts } from '../schemas/definition/index-texts.ts';
import type { FieldType } from '../search/fields/field-type.ts';
import type { ScopedIndex } from '../store/derived/items.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { indexName } from '../store/keys.ts';

/** The origin of the field types of an index. */
export type IndexDefinition =
  | { readonly kind: 'schema'; readonly fields: ReadonlyMap<string, FieldType>; readonly texts: IndexTexts }
  | { readonly kind: 'auto'; readonly tenant: string; readonly sourceId: string; readonly type: string };

/** The definition of an index; null when it is not configured. */
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

/** The definition of an auto-indexed type; null when the group is not auto-indexed or has no source in the environment. */
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

/** The fields that this process knows now. */
export function knownFields(
  definition: IndexDefinition,
  autoFields: AutoFields,
): ReadonlyMap<string, FieldType> {
  if (definition.kind === 'schema') return definition.fields;
  return autoFields.known(definition.tenant, definition.sourceId, definition.type) ?? new Map();
}

/** How many fields got another type, as far as this process knows. */
export function knownRetypings(definition: IndexDefinition, autoFields: AutoFields): number {
  if (definition.kind === 'schema') return 0;
  return autoFields.retypings(definition.tenant, definition.sourceId, definition.type);
}

/** All of a definition as text, but for the fields that auto-indexing finds. */
export function textOfDefinition(definition: IndexDefinition): string {
  if (definition.kind === 'auto') return JSON.stringify(definition);
  const { rules, synonyms } = definition.texts;
  return JSON.stringify([[...definition.fields], [...rules].sort(), synonyms]);
}

/** True when a shard of one definition answers as a shard of the other. */
export function sameDefinition(a: IndexDefinition, b: IndexDefinition): boolean {
  if (a.kind === 'auto') {
    // A shard follows by itself when a field gets another type.
    return b.kind === 'auto' && a.sourceId === b.sourceId && a.type === b.type;
  }
  if (b.kind === 'auto' || a.fields.size !== b.fields.size || !sameTexts(a.texts, b.texts)) return false;
  return [...a.fields].every(([name, type]) => b.fields.get(name) === type);
}
