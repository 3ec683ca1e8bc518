/** True if the processed record of an entity accounts for data that is stored for it. */
import { outputKey } from '../actors/batch/builder.ts';
import { formatEntityId } from '../contract/ids.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { lookupPlace } from '../store/derived/lookups.ts';
import type { ProcessedClaim, ProcessedRecord } from '../store/derived/processed-record.ts';
import { placeApart } from '../store/derived/views.ts';
import { shownClaim } from './claims-check.ts';
import { type Finding, finding, outputSubject } from './finding.ts';
import type { Place, TurnState } from './turn-state.ts';

export function isKnown(former: ProcessedRecord | null, suspect: Suspect): boolean {
  if (former === null) return false;
  if (suspect.kind === 'lookup') {
    return former.lookups.some(
      ({ layoutId, keys }) => layoutId === suspect.layoutId && keys.includes(suspect.lookupKey),
    );
  }
  const { environmentId } = suspect;
  const [kind, name] =
    suspect.kind === 'claim' ? (['view', suspect.alias] as const) : [suspect.kind, suspect.name];
  const recorded = former.outputs.find(
    (output) => outputKey(output) === outputKey({ kind, environmentId, name }),
  );
  if (recorded === undefined || suspect.kind !== 'claim') return recorded !== undefined;
  return recorded.claims.some(
    ({ field, host, kind: claimKind }) =>
      field === suspect.field && host === suspect.host && claimKind === suspect.claimKind,
  );
}

export function wantSuspect(state: TurnState, suspect: Suspect): void {
  if (suspect.kind === 'claim') state.wantClaim(suspect.environmentId, suspect.alias, claimOf(suspect));
  else for (const place of suspectPlaces(state, suspect)) state.want(place);
}

type SuspectedClaim = Extract<Suspect, { kind: 'claim' }>;

function claimOf({ field, host, display, claimKind: kind }: SuspectedClaim): ProcessedClaim {
  return { field, host, kind, sinceStamp: 0, display, redirect: null };
}

/** The places where parts of a suspect may be stored. */
function suspectPlaces(state: TurnState, suspect: Exclude<Suspect, SuspectedClaim>): readonly Place[] {
  const place = suspectPlace(state, suspect);
  return suspect.kind === 'view' ? [place, placeApart(place)] : [place];
}

function suspectPlace(state: TurnState, suspect: Exclude<Suspect, SuspectedClaim>): Place {
  const { tenantAlias: tenant, sourceId, originId } = state.turn;
  if (suspect.kind !== 'lookup') return state.placeOf({ ...suspect, kind: suspect.kind });
  const { layoutId, lookupKey } = suspect;
  return {
    key: lookupPlace(state.store, { tenant, sourceId, lookupKey }).entries(layoutId),
    field: originId,
  };
}

/** Returns a finding if data of a suspect is stored and no record accounts for it. */
export function checkSuspect(state: TurnState, suspect: Suspect): Finding[] {
  const { turn } = state;
  if (isKnown(turn.former, suspect)) return [];
  if (suspect.kind === 'claim') return checkClaim(state, suspect);
  const [stored] = suspectPlaces(state, suspect).flatMap((place) => state.read(place) ?? []);
  if (stored === undefined) return [];
  if (suspect.kind !== 'lookup') {
    return [finding(outputSubject(turn, suspect), 'is stored, but no entity has it', stored)];
  }
  const shown = JSON.stringify(suspect.lookupKey);
  return [finding(formatEntityId(turn), `is in the index under the lookup key ${shown} without a reason`)];
}

function checkClaim(state: TurnState, suspect: SuspectedClaim): Finding[] {
  const { environmentId, alias: name } = suspect;
  const claim = claimOf(suspect);
  if (!state.isListed(environmentId, name, claim)) return [];
  const subject = outputSubject(state.turn, { kind: 'view', environmentId, name });
  return [finding(subject, `is listed for ${shownClaim(claim)}, which it does not claim`)];
}
