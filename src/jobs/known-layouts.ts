import type { LayoutStates } from '../store/configuration/layouts.ts';
import { readOwners } from '../store/partitions/owners.ts';
import type { Role } from '../store/processes/process-messages.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/**
 * True when every process of these roles that is heard of knows the layouts, and every worker that may own a partition is
 * heard of. @throws StoreUnavailableError
 */
export async function isKnownToAll(
  store: Store,
  layouts: LayoutStates,
  roles: readonly Role[],
): Promise<boolean> {
  const [processes, owners] = await Promise.all([liveProcesses(store), readOwners(store)]);
  const workers = new Set(processes.filter(({ role }) => role === 'worker').map(({ id }) => id));
  const areOwnersHeard = owners.every(
    ({ workerId, holds }) => workerId !== null && holds && workers.has(workerId),
  );
  const asked = processes.filter(({ role }) => roles.includes(role));
  return areOwnersHeard && asked.every((process) => process.layouts >= layouts.version);
}
