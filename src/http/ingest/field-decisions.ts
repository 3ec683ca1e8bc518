/**
 * Decides the field types of auto-indexed source groups, before their entities are accepted. "The first value that is not null
 * decides" (docs/reference/indexes-and-queries.md "Auto-indexed source groups"): the first in the order of requests, and of the
 * entities in a request. There is no such order across partitions, so the front decides.
 */
import type { SourcePrincipal } from '../../config/configuration.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { isNews, recordShown } from '../../search/fields/infer.ts';
import { readEntities } from '../../store/entities/entities.ts';
import type { Services } from '../services.ts';
import type { KnownFields, ReadEntity } from './entity-reading.ts';

/** The decided fields of a source that this front knows; null if its source group is not auto-indexed. */
export function knownFields(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
): KnownFields | null {
  if (tenant.sourceGroups.get(source.sourceGroup)?.autoIndex !== true) return null;
  return (entityType) => autoFields.known(tenant.alias, source.id, entityType);
}

/**
 * Decides the types of new fields, and of date fields that get a string that is not a date. Only these need a call to Redis. An
 * entity that will be refused for its type is ignored.
 * @param force true if the request lets entities change their type.
 * @throws StoreUnavailableError
 */
export async function decideFields(
  services: Services,
  principal: SourcePrincipal,
  read: readonly ReadEntity[],
  force: boolean,
): Promise<void> {
  const { tenant, source } = principal;
  const showing = read.filter((reading) => showsNew(services, principal, reading));
  if (showing.length === 0) return;
  const deciding = force ? showing : await withoutConflicts(services, principal, showing);
  for (const [type, candidates] of candidatesByType(deciding)) {
    await services.autoFields.decide(tenant.alias, source.id, type, candidates);
  }
}

/** Checks again whether fields are new, because the thread that reads large entities does not have the known fields. */
function showsNew(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
  { entity, shown }: ReadEntity,
): boolean {
  if (shown.length === 0) return false;
  const known = autoFields.known(tenant.alias, source.id, entity.type);
  const isFull = autoFields.isFull(tenant.alias, source.id, entity.type);
  return shown.some((field) => (isFull ? known?.has(field[0]) === true : true) && isNews(field, known));
}

async function withoutConflicts(
  { store }: Services,
  { tenant, source }: SourcePrincipal,
  readings: readonly ReadEntity[],
): Promise<ReadEntity[]> {
  const refs = readings.map(({ entity }) => ({ sourceId: source.id, originId: entity.originId }));
  const stored = await readEntities(store, tenant.alias, refs);
  return readings.filter(({ entity }, index) => (stored[index]?.type ?? entity.type) === entity.type);
}

function candidatesByType(readings: readonly ReadEntity[]): Map<string, Map<string, FieldType>> {
  const byType = new Map<string, Map<string, FieldType>>();
  for (const { entity, shown } of readings) {
    const candidates = byType.get(entity.type) ?? new Map<string, FieldType>();
    byType.set(entity.type, candidates);
    for (const field of shown) recordShown(field, candidates);
  }
  return byType;
}
