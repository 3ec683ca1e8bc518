/**
 * Types of the fields of auto-indexed source groups, decided before their entities are accepted. "The first value that
 * is not null decides" (contract section 2): the first in the order of the requests and of the entities in them, an order
 * that partitions do not keep among each other.
 */
import type { SourcePrincipal } from '../config/types.ts';
import type { FieldType } from '../search/types.ts';
import type { EntityReading, KnownFields } from './entity-reading.ts';
import type { Services } from './services.ts';

/** What this front knows of the fields of a source; null when its group is not auto-indexed. */
export function knownFields(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
): KnownFields | null {
  if (tenant.sourceGroups.get(source.sourceGroup)?.autoIndex !== true) return null;
  return (entityType) => autoFields.known(tenant.alias, source.id, entityType);
}

/** Asks Redis only when an entity shows a field for the first time. @throws StoreUnavailableError */
export async function decideFields(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
  readings: readonly EntityReading[],
): Promise<void> {
  const byType = new Map<string, Map<string, FieldType>>();
  for (const reading of readings) {
    if (reading.kind !== 'entity' || reading.shown.length === 0) continue;
    const { type } = reading.entity;
    const candidates = byType.get(type) ?? new Map<string, FieldType>();
    byType.set(type, candidates);
    for (const [name, fieldType] of reading.shown) {
      if (!candidates.has(name)) candidates.set(name, fieldType);
    }
  }
  for (const [type, candidates] of byType) await autoFields.decide(tenant.alias, source.id, type, candidates);
}
