import { thingKey } from '../actors/former.ts';
import type { ProcessedRecord } from '../store/processed.ts';
import type { Suspect } from '../store/suspects.ts';

/** Whether the processed record of an entity accounts for something that is stored under its name. */
export function isKnown(former: ProcessedRecord | null, suspect: Suspect): boolean {
  if (former === null) return false;
  if (suspect.kind === 'lookup') {
    return former.lookup?.layoutId === suspect.layoutId && former.lookup.keys.includes(suspect.lookupKey);
  }
  const { environmentId } = suspect;
  const [kind, name] =
    suspect.kind === 'claim' ? (['view', suspect.alias] as const) : [suspect.kind, suspect.name];
  const thing = former.made.find((made) => thingKey(made) === thingKey({ kind, environmentId, name }));
  if (thing === undefined || suspect.kind !== 'claim') return thing !== undefined;
  return thing.claims.some(
    ({ field, host, kind: claimKind }) =>
      field === suspect.field && host === suspect.host && claimKind === suspect.claimKind,
  );
}
