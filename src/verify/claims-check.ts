/**
 * Compares the claims of a view on URLs, handles and redirects with its record and with the lists of claims. The age of a claim
 * cannot be derived from the entity, so it is taken from the record (docs/reference/configuration.md "URLs and domains").
 */

import { outputKey } from '../actors/batch/builder.ts';
import type { Output } from '../actors/batch/output.ts';
import { claimsOfOutput, sameClaim } from '../actors/batch/view-claims.ts';
import { claimKey, type ProcessedClaim } from '../store/derived/processed-record.ts';
import { type Finding, finding, outputSubject } from './finding.ts';
import type { TurnState } from './turn-state.ts';

/** The claims that this view of the entity should have, with ages from the record. */
export function expectedClaims({ former }: TurnState, output: Output): readonly ProcessedClaim[] {
  // A view that fails to build keeps its previous claims.
  if (output.failure !== null) return former.get(outputKey(output.builder))?.claims ?? [];
  return claimsOfOutput(output);
}

export function requestClaims(state: TurnState, output: Output, claims: readonly ProcessedClaim[]): void {
  const { environmentId, name } = output.builder;
  for (const claim of claims) state.requestClaim(environmentId, name, claim);
}

export function checkClaims(state: TurnState, output: Output, claims: readonly ProcessedClaim[]): Finding[] {
  return [...checkRemembered(state, output, claims), ...checkListed(state, output, claims)];
}

function checkRemembered(
  { turn, former }: TurnState,
  { builder }: Output,
  claims: readonly ProcessedClaim[],
): Finding[] {
  const recorded = former.get(outputKey(builder));
  if (recorded === undefined) return [];
  const subject = outputSubject(turn, builder);
  const remembered = new Map(recorded.claims.map((claim) => [claimKey(claim), claim]));
  const findings: Finding[] = [];
  for (const claim of claims) {
    const before = remembered.get(claimKey(claim));
    remembered.delete(claimKey(claim));
    if (sameClaim(claim, before)) continue;
    const message = before === undefined ? 'does not claim' : 'claims with other details';
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

function checkListed(state: TurnState, { builder }: Output, claims: readonly ProcessedClaim[]): Finding[] {
  const { turn } = state;
  return claims.flatMap((claim) => {
    const stored = state.listedClaim(builder.environmentId, builder.name, claim);
    if (stored !== undefined && sameClaim({ ...stored, field: claim.field }, claim)) return [];
    const message = stored === undefined ? 'is not listed for' : 'is listed with other details for';
    return [
      finding(
        outputSubject(turn, builder),
        `${message} ${shownClaim(claim)}`,
        JSON.stringify(stored ?? null),
        JSON.stringify(claim),
      ),
    ];
  });
}

export function shownClaim({
  kind,
  field,
  display,
}: Pick<ProcessedClaim, 'kind' | 'field' | 'display'>): string {
  const what = field.startsWith('h:') ? 'the handle' : kind === 'page' ? 'the URL' : 'the redirect URL';
  return `${what} ${JSON.stringify(display)}`;
}
