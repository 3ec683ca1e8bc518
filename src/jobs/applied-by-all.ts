/** Checks that every process has applied a change, including processes that might still act on the previous state. */
import type { LayoutStates } from '../store/configuration/layouts.ts';
import { type PartitionOwner, readOwners } from '../store/ownership/owners.ts';
import type { ProcessBeat, Role } from '../store/processes/process-messages.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/**
 * True when the one that may still commit to a partition is known, so that its reports can be waited for. An owner may
 * commit until another worker has taken the partition, however long ago its lease has ended. A worker that takes it later follows
 * what is active by then before its first work (`actors/ownership/owned-partitions.ts`), and so does a worker that takes one that
 * was given back.
 */
export function isOwnerAlive({ workerId }: PartitionOwner, heard: readonly ProcessBeat[]): boolean {
  return workerId === null || heard.some(({ id }) => id === workerId);
}

/**
 * True when every process of these roles that is alive knows the layouts, and all owners are known. @throws
 * StoreUnavailableError
 */
export async function isAppliedByAll(
  store: Store,
  layouts: LayoutStates,
  roles: readonly Role[],
): Promise<boolean> {
  const [processes, owners] = await Promise.all([liveProcesses(store), readOwners(store)]);
  const asked = processes.filter(({ role }) => roles.includes(role));
  return (
    owners.every((owner) => isOwnerAlive(owner, processes)) &&
    asked.every((process) => process.layouts >= layouts.version)
  );
}
