/** Compares the list of routes, the order of claims and the count of clashes with the claims on URLs and handles. */
import { groupBy } from '../contract/group-by.ts';
import { claimTag, readClaimFields } from '../store/claims.ts';
import { keys } from '../store/keys.ts';
import { hasSorted } from '../store/keyspace.ts';
import type { Store } from '../store/store.ts';
import { StoredState } from '../store/stored-state.ts';
import type { Claim } from '../store/types.ts';
import { type Finding, finding, type RouteTarget } from './finding.ts';

/** Findings for each target, in their order. @throws StoreUnavailableError */
export async function checkRoutes(store: Store, targets: readonly RouteTarget[]): Promise<Finding[][]> {
  const findings = new Map<RouteTarget, Finding[]>();
  const groups = groupBy(targets, ({ tenant, environmentId }) => `${tenant}:${environmentId}`);
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return;
      const lists = await readClaimFields(
        store,
        first,
        group.map(({ field }) => field),
      );
      const clashes = new StoredState(store);
      for (const { field } of group) clashes.wantField(clashesKey(store, first, field), field);
      await clashes.load();
      await Promise.all(
        group.map(async (target, index) => {
          const claims = lists[index] ?? [];
          const clash = clashes.field(clashesKey(store, target, target.field), target.field);
          findings.set(target, [
            ...checkOrder(target, claims),
            ...checkClash(target, claims, Number(clash?.toString() ?? 0)),
            ...(await checkUrls(store, target, claims)),
          ]);
        }),
      );
    }),
  );
  return targets.map((target) => findings.get(target) ?? []);
}

function clashesKey(
  store: Store,
  scope: Pick<RouteTarget, 'tenant' | 'environmentId'>,
  field: string,
): string {
  return keys.clashes(claimTag(store, scope, field), scope.tenant, scope.environmentId);
}

function subjectOf({ field, environmentId }: RouteTarget): string {
  const what = field.startsWith('h:') ? 'handle' : 'URL';
  return `${what} ${JSON.stringify(field.slice(2))} of environment ${environmentId}`;
}

/** A page before a redirect, the latest claim before older ones (contract section 5). */
function checkOrder(target: RouteTarget, claims: readonly Claim[]): Finding[] {
  const isInOrder = claims.every((claim, index) => {
    const before = claims[index - 1];
    if (before === undefined) return true;
    if (before.kind !== claim.kind) return before.kind === 'page';
    return before.sinceStamp >= claim.sinceStamp;
  });
  return isInOrder ? [] : [finding(subjectOf(target), 'its claims are not in order', JSON.stringify(claims))];
}

function checkClash(target: RouteTarget, claims: readonly Claim[], counted: number): Finding[] {
  const expected = claims.length > 1 ? claims.length : 0;
  if (counted === expected) return [];
  return [finding(subjectOf(target), `is counted as claimed by ${counted}, but ${expected} is right`)];
}

async function checkUrls(store: Store, target: RouteTarget, claims: readonly Claim[]): Promise<Finding[]> {
  const { tenant, environmentId, field } = target;
  if (!field.startsWith('u:')) return [];
  const served = servedUrls(claims);
  const urls = [...new Set([...served, ...target.urls])];
  const key = keys.routes(claimTag(store, target, field), tenant, environmentId);
  const listed = await hasSorted(store, key, urls);
  return urls.flatMap((url, index) => {
    const subject = `URL ${JSON.stringify(url)} of environment ${environmentId}`;
    if (served.has(url) && !listed[index]) return [finding(subject, 'is missing in the list of routes')];
    if (!served.has(url) && listed[index])
      return [finding(subject, 'is in the list of routes, but is not served')];
    return [];
  });
}

/** The URLs that answer: of every host the first claim, but no redirect where a page answers on every host. */
function servedUrls(claims: readonly Claim[]): Set<string> {
  const firstOfHost = new Map<string | null, Claim>();
  for (const claim of claims) if (!firstOfHost.has(claim.host)) firstOfHost.set(claim.host, claim);
  const isPageEverywhere = firstOfHost.get(null)?.kind === 'page';
  const served = [...firstOfHost.values()].filter(
    ({ kind, host }) => kind === 'page' || host === null || !isPageEverywhere,
  );
  return new Set(served.map(({ display }) => display));
}
