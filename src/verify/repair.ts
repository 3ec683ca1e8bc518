/** Has the owners of partitions write anew what differs: they alone can do so without racing against themselves. */
import { writeClaims } from '../store/claims.ts';
import { formatDependent } from '../store/dependents.ts';
import { markForRebuild, outsideCaller } from '../store/intake.ts';
import { waitUntilSettled } from '../store/partition-state.ts';
import type { Store } from '../store/store.ts';
import { repairOf } from '../store/suspects.ts';
import type { EntityTarget, RouteTarget, Target } from './finding.ts';

const targetsPerEntry = 100;

/** Returns when the repairs are done. @throws StandstillError, StoreUnavailableError */
export async function repairTargets(store: Store, targets: readonly Target[]): Promise<void> {
  const groups = new Map<string, EntityTarget[]>();
  for (const target of targets) {
    if (target.kind === 'route') continue;
    const key = `${store.partitions.ofEntity(target.sourceId, target.originId)}:${target.tenant}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [target]);
    else group.push(target);
  }
  for (const group of groups.values()) {
    for (let at = 0; at < group.length; at += targetsPerEntry) {
      await markPortion(store, group.slice(at, at + targetsPerEntry));
    }
  }
  // Routes follow from claims: first those have to be right.
  for (const target of targets) if (target.kind === 'route') await repairRoutes(store, target);
}

async function markPortion(store: Store, targets: readonly EntityTarget[]): Promise<void> {
  const [first] = targets;
  if (first === undefined) return;
  const partition = store.partitions.ofEntity(first.sourceId, first.originId);
  const members = targets.flatMap(({ sourceId, originId, suspects }) =>
    [null, ...suspects].map((suspect) => formatDependent(repairOf(sourceId, originId, suspect))),
  );
  await markForRebuild(store, outsideCaller, partition, first.tenant, members);
  // One portion at a time, so that fresh changes never wait behind more than that.
  await waitUntilSettled(store);
}

/** Dropping a claim that nobody makes derives routes and clashes of its field anew, whoever claims it. */
async function repairRoutes(
  store: Store,
  { tenant, environmentId, field, urls }: RouteTarget,
): Promise<void> {
  const nobody = { sourceId: '', alias: '', originId: '' };
  await writeClaims(
    store,
    outsideCaller,
    ['', ...urls].map((display) => ({
      action: 'drop' as const,
      scope: { tenant, environmentId },
      field,
      claim: {
        host: null,
        kind: 'page' as const,
        sinceStamp: 0,
        view: nobody,
        display,
        redirect: null,
      },
    })),
  );
}
