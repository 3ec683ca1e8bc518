/** Tells whether the outputs of an entity are those that the present configuration gives. Pure. */

import { buildersFor, outputKey, placeOf } from '../actors/batch/builder.ts';
import type { TurnBasis } from '../actors/batch/turn.ts';
import type { UrlForm } from '../config/urls/url-form.ts';
import { type ProcessedRecord, processedState } from '../store/derived/processed-record.ts';
import { urlFormOfField } from '../store/keys.ts';

/**
 * Names, schema digests and the forms of URLs are compared, no bytes: an equal digest means that no view of the schema can differ. A
 * recorded output without a builder is outdated too, so that a rebuild of its entity removes it.
 * @param hasNoRoom true for an entity type of which no index item is built, because its source has no room for it
 */
export function isOutdated(
  { configuration, layouts }: TurnBasis,
  tenantAlias: string,
  sourceId: string,
  record: ProcessedRecord,
  hasNoRoom: (type: string) => boolean,
): boolean {
  const { type, lookups, outputs } = record;
  // No configuration makes anything of an entity that is not published.
  if (processedState(record) !== 'published') return lookups.length + outputs.length > 0;
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
  const { written } = layouts.urlFormsOf(tenantAlias);
  if (outputs.some(({ claims }) => claims.some(({ field }) => isOtherForm(field, written)))) return true;
  const builders = (place === null ? [] : buildersFor(place.tenant, place.source, type)).filter(
    ({ kind, schema }) => kind === 'view' || schema !== null || !hasNoRoom(type),
  );
  if (builders.length !== outputs.length) return true;
  const digests = new Map(builders.map((builder) => [outputKey(builder), builder.schemaDigest]));
  return outputs.some((output) => digests.get(outputKey(output)) !== output.schemaDigest);
}

/** True for the claim field of a URL in another form than the one in which the tenant's URLs are claimed. */
function isOtherForm(field: string, written: UrlForm): boolean {
  const form = urlFormOfField(field);
  return form !== null && form !== written;
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
