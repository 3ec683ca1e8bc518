/**
 * Compares the claims of a view on URLs, handles and redirects with its record and with the lists of claims. Since when
 * a claim is made cannot be told from the entity alone: that is taken from the record (contract section 5).
 */
import type { Build } from '../actors/batch/build.ts';
import { claimsOf } from '../actors/batch/claims.ts';
import { formerClaims, sameClaim } from '../actors/batch/former.ts';
import { claimKey, thingKey } from '../actors/batch/made-key.ts';
import type { MadeClaim } from '../store/derived/processed.ts';
import { type Finding, finding, thingSubject } from './finding.ts';
import type { TurnState } from './turn-state.ts';

export function expectedClaims({ turn }: TurnState, { built, maker }: Build): MadeClaim[] {
  if (built.kind !== 'view' || turn.entity === null) return [];
  return claimsOf(turn.entity, built.claims, formerClaims(turn, maker));
}

export function wantClaims(state: TurnState, build: Build, claims: readonly MadeClaim[]): void {
  const { environmentId, name } = build.maker;
  for (const claim of claims) state.wantClaim(environmentId, name, claim);
}

export function checkClaims(state: TurnState, build: Build, claims: readonly MadeClaim[]): Finding[] {
  return [...checkRemembered(state, build, claims), ...checkListed(state, build, claims)];
}

function checkRemembered(
  { turn, former }: TurnState,
  { maker }: Build,
  claims: readonly MadeClaim[],
): Finding[] {
  const thing = former.get(thingKey(maker));
  if (thing === undefined) return [];
  const subject = thingSubject(turn, maker);
  const remembered = new Map(thing.claims.map((claim) => [claimKey(claim), claim]));
  const findings: Finding[] = [];
  for (const claim of claims) {
    const before = remembered.get(claimKey(claim));
    remembered.delete(claimKey(claim));
    if (sameClaim(claim, before)) continue;
    const message = before === undefined ? 'does not claim' : 'claims with other particulars';
    findings.push(
      finding(
        subject,
        `${message} ${shownClaim(claim)}`,
        JSON.stringify(before ?? null),
        JSON.stringify(claim),
      ),
    );
  }
  for (const claim of remembered.values())
    findings.push(finding(subject, `should not claim ${shownClaim(claim)}`));
  return findings;
}

function checkListed(state: TurnState, { maker }: Build, claims: readonly MadeClaim[]): Finding[] {
  const { turn } = state;
  return claims.flatMap((claim) => {
    const stored = state.listedClaim(maker.environmentId, maker.name, claim);
    if (stored !== undefined && sameClaim({ ...stored, field: claim.field }, claim)) return [];
    const message = stored === undefined ? 'is not listed for' : 'is listed with other particulars for';
    return [
      finding(
        thingSubject(turn, maker),
        `${message} ${shownClaim(claim)}`,
        JSON.stringify(stored ?? null),
        JSON.stringify(claim),
      ),
    ];
  });
}

export function shownClaim({ kind, field, display }: Pick<MadeClaim, 'kind' | 'field' | 'display'>): string {
  const what = field.startsWith('h:') ? 'the handle' : kind === 'page' ? 'the URL' : 'the redirect URL';
  return `${what} ${JSON.stringify(display)}`;
}
