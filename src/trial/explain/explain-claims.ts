/** Under what a view would be found, and what is served there. */
import { formatViewId } from '../../contract/ids.ts';
import { explainedClaimsMax } from '../../contract/limits.ts';
import { readService } from '../../store/change-log/served.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields } from '../../store/claims/read-claims.ts';
import type { ProcessedClaim } from '../../store/derived/processed-record.ts';
import { urlFormOfField } from '../../store/keys.ts';
import type { Explained } from './explained.ts';

interface ExplainedClaims {
  readonly urls: readonly object[];
  readonly handles: readonly object[];
}

/** @throws StoreUnavailableError */
export async function explainClaims(explained: Explained): Promise<ExplainedClaims> {
  const { store, tenant, environment, view, output } = explained;
  const scope = { tenant: tenant.alias, environmentId: environment.id };
  const claims = output.claims.map((claim) => ({ ...claim, view }));
  const service = await readService(store, scope, claims, 0);
  const beaten = claims.filter((_, at) => service[at] !== 'served');
  const lists = await readClaimFields(
    store,
    scope,
    beaten.map(({ field }) => field),
    explainedClaimsMax,
  );
  const told = claims.map((claim, at) => {
    const served = service[at] === 'served';
    const winner = served ? null : winnerOver(claim, lists[beaten.indexOf(claim)] ?? []);
    return {
      claim,
      facts: {
        served,
        ...(winner === null
          ? {}
          : { beatenBy: formatViewId({ environmentId: environment.id, ...winner.view }) }),
      },
    };
  });
  const isHandle = ({ field }: ProcessedClaim) => urlFormOfField(field) === null;
  return {
    urls: told
      .filter(({ claim }) => !isHandle(claim))
      .map(({ claim, facts }) => ({ url: claim.display, kind: claim.kind, ...facts })),
    handles: told
      .filter(({ claim }) => isHandle(claim))
      .map(({ claim, facts }) => ({ handle: claim.display, ...facts })),
  };
}

/** The claim that is served in the place of another. @param claims of its field, best first */
function winnerOver({ host }: ProcessedClaim, claims: readonly Claim[]): Claim | null {
  return claims.find((claim) => claim.host === host || claim.host === null) ?? null;
}
