/** Checks that every process has applied a change, so that none can still act on the previous state. */
import type { LayoutStates } from '../store/configuration/layouts.ts';
import { type PartitionOwner, readOwners } from '../store/ownership/owners.ts';
import type { ProcessBeat, Role } from '../store/processes/process-messages.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/**
 * True if the only worker that may still commit to a partition sends heartbeats, so that its progress can be awaited. An owner
 * may commit until another worker takes the partition, however long ago its lease has expired. A worker that takes a partition
 * first applies the active state (`actors/ownership/owned-partitions.ts`).
 */
export function isOwnerAlive({ workerId }: PartitionOwner, live: readonly ProcessBeat[]): boolean {
  return workerId === null || live.some(({ id }) => id === workerId);
}

/**
 * True if every live process of these roles has applied the layouts, and all owners are alive. @throws StoreUnavailableError
 */
export async function isAppliedByAll(
  store: Store,
  layouts: LayoutStates,
  roles: readonly Role[],
): Promise<boolean> {
  const [processes, owners] = await Promise.all([liveProcesses(store), readOwners(store)]);
  const relevant = processes.filter(({ role }) => roles.includes(role));
  return (
    owners.every((owner) => isOwnerAlive(owner, processes)) &&
    relevant.every((process) => process.layouts >= layouts.version)
  );
}
