/** Which of several claims on one URL is served (contract section 5 "Two entities claim one URL or handle"). */

import type { Domain } from '../../config/configuration.ts';
import { routeAnswers } from '../../config/urls/domains.ts';
import type { Claim } from '../../store/claims/claim-records.ts';

/**
 * The claim that answers a request for a URL on a host: a page before a redirect, an absolute claim before a relative
 * one, then the latest.
 * @param claims as the store orders them, a page before a redirect, the latest first. @param host null for a relative URL
 */
export function servedClaim(
  claims: readonly Claim[],
  host: string | null,
  domains: readonly Domain[],
): Claim | null {
  let served: Claim | null = null;
  for (const claim of claims) {
    if (!routeAnswers(claim.host, host, domains)) continue;
    if (served === null || (served.kind === claim.kind && served.host === null && claim.host !== null)) {
      served = claim;
    }
  }
  return served;
}
