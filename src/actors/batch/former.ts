/** What was made of an entity before, as its new state is compared with it. Pure. */
import type { MadeClaim, MadeThing, ProcessedRecord } from '../../store/derived/processed.ts';
import type { Suspect } from '../../store/derived/suspects.ts';
import { claimKey, thingKey } from './made-key.ts';
import type { Maker } from './maker.ts';
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

/** What the entity claimed before in the environment of a maker, by its record alone: nothing else knows since when. */
export function formerClaims(
  { former, entity }: Turn,
  maker: Pick<Maker, 'environmentId' | 'name'>,
): FormerClaims {
  if (former === null) return noFormerClaims;
  const views = former.made.filter(
    ({ kind, environmentId }) => kind === 'view' && environmentId === maker.environmentId,
  );
  const isOfMaker = ({ name }: MadeThing) => name === maker.name;
  return {
    ofView: oldestClaims(views.filter(isOfMaker)),
    ofOtherViews: oldestClaims(views.filter((view) => !isOfMaker(view))),
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

/** What was made of the entity before, by `thingKey`, with what a repair was told that may be there besides. */
export function formerThings({ former, repair }: Turn): ReadonlyMap<string, MadeThing> {
  if (former === null && repair === null) return nothing;
  const things = new Map(former?.made.map((thing) => [thingKey(thing), thing]));
  for (const suspect of repair ?? []) {
    if (suspect.kind === 'lookup') continue;
    const thing = suspectThing(suspect);
    const known = things.get(thingKey(thing));
    // What the record has besides stays as it is; a claim that is made now is put after it was dropped.
    const claims = [...(known?.claims ?? []), ...thing.claims];
    const unique = new Map(claims.reverse().map((claim) => [claimKey(claim), claim]));
    things.set(thingKey(thing), { ...(known ?? thing), claims: [...unique.values()] });
  }
  return things;
}

/** Schema digest of a thing that no schema of now is known to have made. */
export const outdatedDigest = '';

function suspectThing(suspect: Exclude<Suspect, { kind: 'lookup' }>): MadeThing {
  const none = { schemaDigest: outdatedDigest, bytesDigest: Buffer.alloc(0), claims: [], dependsOn: [] };
  const { environmentId } = suspect;
  if (suspect.kind !== 'claim') return { ...none, kind: suspect.kind, environmentId, name: suspect.name };
  const { alias, claimKind, field, host, display } = suspect;
  const claim: MadeClaim = { field, host, kind: claimKind, sinceStamp: 0, display, redirect: null };
  return { ...none, kind: 'view', environmentId, name: alias, claims: [claim] };
}
