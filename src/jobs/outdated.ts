/** Whether what was made of an entity is what the configuration of now would make. Pure. */
import { thingKey } from '../actors/former.ts';
import { makersFor, placeOf } from '../actors/maker.ts';
import type { Configuration } from '../config/types.ts';
import type { ProcessedRecord } from '../store/processed.ts';

/**
 * Names and schema digests are compared, no bytes: an equal digest means that no view of the schema can differ. A
 * thing without a maker is outdated too, so that a rebuild of its entity removes it.
 */
export function isOutdated(
  configuration: Configuration,
  tenantAlias: string,
  sourceId: string,
  { type, lookup, made }: ProcessedRecord,
): boolean {
  const place = placeOf(configuration, tenantAlias, sourceId);
  const layout = place?.tenant.lookupLayouts.get(sourceId);
  if ((layout?.id ?? null) !== (lookup?.layoutId ?? null)) return true;
  const makers = place === null ? [] : makersFor(place.tenant, place.source, type);
  if (makers.length !== made.length) return true;
  const digests = new Map(makers.map((maker) => [thingKey(maker), maker.schemaDigest]));
  return made.some((thing) => digests.get(thingKey(thing)) !== thing.schemaDigest);
}
