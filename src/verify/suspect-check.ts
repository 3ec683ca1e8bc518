/** Checks data that is stored for an entity but that its processed record may not account for. */
import { outputKey } from '../actors/batch/builder.ts';
import { formatEntityId } from '../contract/ids.ts';
import type { Suspect } from '../store/derived/dependents.ts';
import { redisKeysOf } from '../store/derived/lookups.ts';
import type { ProcessedClaim, ProcessedRecord } from '../store/derived/processed-record.ts';
import { fieldOfLargeBody } from '../store/derived/views.ts';
import type { HashField } from '../store/redis/field-reader.ts';
import { shownClaim } from './claims-check.ts';
import { type Finding, finding, outputSubject } from './finding.ts';
import type { TurnState } from './turn-state.ts';

/** True if the processed record accounts for the suspect. */
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

export function requestSuspect(state: TurnState, suspect: Suspect): void {
  if (suspect.kind === 'claim') state.requestClaim(suspect.environmentId, suspect.alias, claimOf(suspect));
  else for (const field of suspectFields(state, suspect)) state.request(field);
}

type SuspectedClaim = Extract<Suspect, { kind: 'claim' }>;

function claimOf({ field, host, display, claimKind: kind }: SuspectedClaim): ProcessedClaim {
  return { field, host, kind, sinceStamp: 0, display, redirect: null };
}

/** The fields in which parts of a suspect may be stored. */
function suspectFields(state: TurnState, suspect: Exclude<Suspect, SuspectedClaim>): readonly HashField[] {
  const field = suspectField(state, suspect);
  return suspect.kind === 'view' ? [field, fieldOfLargeBody(field)] : [field];
}

function suspectField(state: TurnState, suspect: Exclude<Suspect, SuspectedClaim>): HashField {
  const { tenant, sourceId, originId } = state.turn;
  if (suspect.kind !== 'lookup') return state.fieldOf({ ...suspect, kind: suspect.kind });
  const { layoutId, lookupKey } = suspect;
  return {
    key: redisKeysOf(state.store, { tenant, sourceId, lookupKey }).entries(layoutId),
    field: originId,
  };
}

/** Returns a finding if data of a suspect is stored and no record accounts for it. */
export function checkSuspect(state: TurnState, suspect: Suspect): Finding[] {
  const { turn } = state;
  if (isKnown(turn.former, suspect)) return [];
  if (suspect.kind === 'claim') return checkClaim(state, suspect);
  const [stored] = suspectFields(state, suspect).flatMap((field) => state.read(field) ?? []);
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
