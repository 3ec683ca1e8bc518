/** The former outputs of an entity, with which those of its new state are compared. Pure. */
import type { MadeClaim, MadeThing, ProcessedRecord } from '../../store/derived/processed-record.ts';
import type { Suspect } from '../../store/derived/suspects.ts';
import type { Builder } from './builder.ts';
import { claimKey, outputKey } from './output-key.ts';
import type { Turn } from './turn.ts';

/** What the entity claimed in the environment when it was processed last. */
export interface FormerClaims {
  /** Of the same view, by `claimKey`. */
  readonly ofView: ReadonlyMap<string, MadeClaim>;
  /** Of the entity's other views there; the oldest of equal ones. */
  readonly ofOtherViews: ReadonlyMap<string, MadeClaim>;
  /** What was processed last; null when that was before the entity was born, or nothing. */
  readonly processed: Pick<ProcessedRecord, 'stamp' | 'type'> | null;
}

export function sameClaim(a: MadeClaim, b: MadeClaim | undefined): boolean {
  if (b === undefined) return false;
  return (
    a.host === b.host && a.sinceStamp === b.sinceStamp && a.display === b.display && a.redirect === b.redirect
  );
}

/** Bytes that are stored already are not written again; a repair does not believe it. */
export function isStored(turn: Turn, former: MadeThing | null, bytesDigest: Buffer): boolean {
  return turn.repair === null && former !== null && former.bytesDigest.equals(bytesDigest);
}

/**
 * Claims that are listed already are not put again. A repair does not believe it; and what a restore has put says since
 * when something is claimed, while nothing of it is there.
 */
export function isListed(turn: Turn, former: MadeThing | null): boolean {
  return turn.repair === null && former !== null && former.bytesDigest.length > 0;
}

const noClaims: ReadonlyMap<string, MadeClaim> = new Map();
const noFormerClaims: FormerClaims = { ofView: noClaims, ofOtherViews: noClaims, processed: null };

/** What the entity claimed before in the environment of a builder, by its record alone: nothing else knows since when. */
export function formerClaims(
  { former, entity }: Turn,
  builder: Pick<Builder, 'environmentId' | 'name'>,
): FormerClaims {
  if (former === null) return noFormerClaims;
  const views = former.made.filter(
    ({ kind, environmentId }) => kind === 'view' && environmentId === builder.environmentId,
  );
  const isOfBuilder = ({ name }: MadeThing) => name === builder.name;
  return {
    ofView: oldestClaims(views.filter(isOfBuilder)),
    ofOtherViews: oldestClaims(views.filter((view) => !isOfBuilder(view))),
    processed: entity !== null && former.stamp >= entity.bornStamp ? former : null,
  };
}

function oldestClaims(views: readonly MadeThing[]): Map<string, MadeClaim> {
  const oldest = new Map<string, MadeClaim>();
  for (const claim of views.flatMap(({ claims }) => claims)) {
    const known = oldest.get(claimKey(claim));
    if (known === undefined || claim.sinceStamp < known.sinceStamp) oldest.set(claimKey(claim), claim);
  }
  return oldest;
}

const nothing: ReadonlyMap<string, MadeThing> = new Map();

/** Former outputs by `outputKey`, with what a repair was told that may be there besides. */
export function formerOutputs({ former, repair }: Turn): ReadonlyMap<string, MadeThing> {
  if (former === null && repair === null) return nothing;
  const outputs = new Map(former?.made.map((output) => [outputKey(output), output]));
  for (const suspect of repair ?? []) {
    if (suspect.kind === 'lookup') continue;
    const output = suspectedOutput(suspect);
    const known = outputs.get(outputKey(output));
    // What the record has besides stays as it is; a claim that is made now is put after it was dropped.
    const claims = [...(known?.claims ?? []), ...output.claims];
    const unique = new Map(claims.reverse().map((claim) => [claimKey(claim), claim]));
    outputs.set(outputKey(output), { ...(known ?? output), claims: [...unique.values()] });
  }
  return outputs;
}

/** Schema digest of an output that no schema of now is known to have made. */
export const outdatedDigest = '';

function suspectedOutput(suspect: Exclude<Suspect, { kind: 'lookup' }>): MadeThing {
  const none = { schemaDigest: outdatedDigest, bytesDigest: Buffer.alloc(0), claims: [], dependsOn: [] };
  const { environmentId } = suspect;
  if (suspect.kind !== 'claim') return { ...none, kind: suspect.kind, environmentId, name: suspect.name };
  const { alias, claimKind, field, host, display } = suspect;
  const claim: MadeClaim = { field, host, kind: claimKind, sinceStamp: 0, display, redirect: null };
  return { ...none, kind: 'view', environmentId, name: alias, claims: [claim] };
}
