/** Whether what was made of an entity is what the configuration of now would make. Pure. */
import { thingKey } from '../actors/batch/made-key.ts';
import { makersFor, placeOf } from '../actors/batch/maker.ts';
import type { Basis } from '../actors/batch/turn.ts';
import type { ProcessedRecord } from '../store/derived/processed.ts';

/**
 * Names and schema digests are compared, no bytes: an equal digest means that no view of the schema can differ. A
 * thing without a maker is outdated too, so that a rebuild of its entity removes it.
 * @param hasNoRoom true for an entity type of which no index item is made, because its source has no room for it
 */
export function isOutdated(
  { configuration, layouts }: Basis,
  tenantAlias: string,
  sourceId: string,
  { type, lookups, made }: ProcessedRecord,
  hasNoRoom: (type: string) => boolean,
): boolean {
  const place = placeOf(configuration, tenantAlias, sourceId);
  const wanted = place?.tenant.lookupLayouts.get(sourceId) ?? null;
  const kept = layouts.keptOf({ tenant: tenantAlias, sourceId }, wanted);
  if (
    !sameNames(
      kept.map(({ id }) => id),
      lookups.map(({ layoutId }) => layoutId),
    )
  )
    return true;
  const makers = (place === null ? [] : makersFor(place.tenant, place.source, type)).filter(
    ({ kind, schema }) => kind === 'view' || schema !== null || !hasNoRoom(type),
  );
  if (makers.length !== made.length) return true;
  const digests = new Map(makers.map((maker) => [thingKey(maker), maker.schemaDigest]));
  return made.some((thing) => digests.get(thingKey(thing)) !== thing.schemaDigest);
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
