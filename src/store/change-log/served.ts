/** Finds claims of views that are served, or were until recently (docs/design/changes.md "The log"). */
import { groupBy } from '../../lib/lists.ts';
import { type Claim, claimTag } from '../claims/claim-records.ts';
import { readServed } from '../claims/claims.ts';
import { competingClaimField, readFirstOfHosts, scanFirstOfHosts } from '../claims/competing-claims.ts';
import type { FormerClaim } from '../derived/processed-record.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { isSameView, type LoggedView } from './logged-views.ts';

/** A current or former claim of a view. */
export interface ClaimOfView extends FormerClaim {
  readonly view: LoggedView;
  /** Stamp of a current claim, in microseconds; null for a former claim. */
  readonly sinceStamp: number | null;
}

export type ServiceState = 'served' | 'left' | 'never';

/**
 * @param keptSince in microseconds; claims that ended before count as never served
 * @throws StoreUnavailableError
 */
export async function readService(
  store: Store,
  scope: EnvironmentScope,
  claims: readonly ClaimOfView[],
  keptSince: number,
): Promise<ServiceState[]> {
  const isServed = await readIsServed(store, scope, claims);
  const asked = claims.filter((_, at) => !isServed[at]);
  const ended = await readEnds(store, scope, asked);
  return claims.map((claim, at) =>
    isServed[at] ? 'served' : (ended.get(claim) ?? 0) > keptSince ? 'left' : 'never',
  );
}

async function readIsServed(
  store: Store,
  scope: EnvironmentScope,
  claims: readonly ClaimOfView[],
): Promise<boolean[]> {
  const fields = [...new Set(claims.filter(isMade).map(({ field }) => field))];
  const records = await readServed(store, scope, fields);
  const recordOf = new Map(fields.map((field, at) => [field, records[at]]));
  return await Promise.all(
    claims.map(async (claim) => {
      const record = recordOf.get(claim.field);
      if (!isMade(claim) || record === undefined) return false;
      if (record.claims.some((served) => isSame(served, claim))) return true;
      return record.hasMore && (await isServedBeyond(store, scope, claim));
    }),
  );
}

function isMade({ sinceStamp }: ClaimOfView): boolean {
  return sinceStamp !== null;
}

/** The same for a claim on a host that is not in the record of its field. */
async function isServedBeyond(store: Store, scope: EnvironmentScope, claim: ClaimOfView): Promise<boolean> {
  const { field, host, kind } = claim;
  const [first = null, everywhere = null] = await readFirstOfHosts(store, scope, [
    { field, host },
    { field, host: null },
  ]);
  const isHidden = kind === 'redirect' && everywhere?.kind === 'page';
  return first !== null && isSame(first, claim) && !isHidden;
}

function isSame(served: Claim, { host, kind, view }: ClaimOfView): boolean {
  return served.host === host && served.kind === kind && isSameView(served.view, view);
}

/** Member of `keys.left` with the time at which redirects on hosts became hidden on a field. */
function hidingMember(field: string): string {
  return `h${field}`;
}

/** The times when claims stopped being served, in microseconds; without claims that never were. */
async function readEnds(
  store: Store,
  scope: EnvironmentScope,
  claims: readonly ClaimOfView[],
): Promise<Map<ClaimOfView, number>> {
  const ends = new Map<ClaimOfView, number>();
  const { tenant, environmentId } = scope;
  await Promise.all(
    [...groupBy(claims, ({ field }) => claimTag(store, scope, field))].map(async ([tag, group]) => {
      const members = group.flatMap((claim) => [
        competingClaimField(claim.field, claim),
        hidingMember(claim.field),
      ]);
      const scores = await answerOf(store.client.zmscore(keys.left(tag, tenant, environmentId), ...members));
      group.forEach((claim, at) => {
        const [ended, hidden] = [Number(scores[at * 2] ?? 0), Number(scores[at * 2 + 1] ?? 0)];
        const isHidden = claim.kind === 'redirect' && claim.host !== null && wasMadeBefore(claim, hidden);
        const end = isHidden ? Math.max(ended, hidden) : ended;
        if (end > 0) ends.set(claim, end);
      });
    }),
  );
  return ends;
}

function wasMadeBefore({ sinceStamp }: ClaimOfView, stamp: number): boolean {
  return sinceStamp !== null && sinceStamp < stamp;
}

/** The views of the first redirect on each host of a field, hidden or not. @throws StoreUnavailableError */
export async function readRedirectsOnHosts(
  store: Store,
  scope: EnvironmentScope,
  field: string,
): Promise<LoggedView[]> {
  const [record] = await readServed(store, scope, [field]);
  const found: Claim[] = [];
  if (record?.isContested) {
    for await (const claims of scanFirstOfHosts(store, scope, field)) found.push(...claims);
  } else found.push(...(record?.claims ?? []));
  return found.filter(({ kind, host }) => kind === 'redirect' && host !== null).map(({ view }) => view);
}
