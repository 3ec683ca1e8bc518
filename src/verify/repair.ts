/** Requests the owners of partitions to rewrite what differs. Only an owner can do this without a race. */
import { normalizeUrl } from '../config/urls/url.ts';
import { groupBy, portions } from '../lib/lists.ts';
import type { ClaimWrite } from '../store/claims/claim-records.ts';
import { writeClaims } from '../store/claims/claims.ts';
import { type RankedClaim, readCompetingClaims } from '../store/claims/competing-claims.ts';
import { formatDependent, repairOf } from '../store/derived/dependents.ts';
import { invalidate, outsideCaller } from '../store/partitions/intake.ts';
import { waitUntilSettled } from '../store/partitions/partition-state.ts';
import type { Store } from '../store/store.ts';
import type { EntityTarget, RouteTarget, Target } from './finding.ts';

const targetsPerEntry = 100;

/** Resolves when the repairs are done. @throws StandstillError, StoreUnavailableError */
export async function repairTargets(store: Store, targets: readonly Target[]): Promise<void> {
  const entities = targets.filter((target) => target.kind === 'entity');
  const groups = groupBy(
    entities,
    ({ tenant, sourceId, originId }) => `${store.partitions.ofEntity(sourceId, originId)}:${tenant}`,
  );
  for (const group of groups.values()) {
    for (const portion of portions(group, targetsPerEntry)) await invalidatePortion(store, portion);
  }
  // Routes are derived from claims, so claims are repaired first.
  for (const target of targets) if (target.kind === 'route') await repairRoutes(store, target);
}

async function invalidatePortion(store: Store, targets: readonly EntityTarget[]): Promise<void> {
  const [first] = targets;
  if (first === undefined) return;
  const partition = store.partitions.ofEntity(first.sourceId, first.originId);
  const dependents = targets.flatMap(({ sourceId, originId, suspects }) =>
    [null, ...suspects].map((suspect) => formatDependent(repairOf(sourceId, originId, suspect))),
  );
  await invalidate(store, outsideCaller, partition, first.tenant, dependents);
  // One portion at a time, so that new changes never wait for more than that.
  await waitUntilSettled(store);
}

/** A claim that belongs to no view. */
const unrankedClaim: RankedClaim = {
  host: null,
  kind: 'page',
  sinceStamp: 0,
  view: { sourceId: '', alias: '', originId: '' },
};

/** Recomputes what is derived from the claims on a field: their order, the served claims, routes and clashes. */
async function repairRoutes(
  store: Store,
  { tenant, environmentId, field, urls }: RouteTarget,
): Promise<void> {
  const scope = { tenant, environmentId };
  const renewal = (claim: RankedClaim, display: string): ClaimWrite => ({
    action: 'renew',
    scope,
    field,
    claim: { ...claim, display, redirect: null },
  });
  const competing = await readCompetingClaims(store, scope, field);
  await writeClaims(store, outsideCaller, [
    ...competing.map(({ ranked }) => renewal(ranked, '')),
    ...['', ...urls].map((url) => renewal({ ...unrankedClaim, host: normalizeUrl(url)?.host ?? null }, url)),
  ]);
}
