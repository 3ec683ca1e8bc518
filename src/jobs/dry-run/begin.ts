import { randomBytes } from 'node:crypto';
import type { ConfigDocuments } from '../../config/configuration.ts';
import { putDryRun } from '../../store/dry-runs/dry-run.ts';
import type { Store } from '../../store/store.ts';
import { type DryRunTask, dryRunJobs, enqueueDryRun } from './queue.ts';

const tokenBytes = 16;

/**
 * Has the jobs process tell what documents would change.
 * @param documents of the tenant that is compared, or of all, keys hashed. @returns the token of the dry run. @throws StoreUnavailableError
 */
export async function beginDryRun(
  store: Store,
  documents: ConfigDocuments,
  compared: Omit<DryRunTask, 'token'>,
): Promise<string> {
  const token = randomBytes(tokenBytes).toString('hex');
  await putDryRun(store, token, documents);
  const queue = dryRunJobs(store);
  try {
    await enqueueDryRun(queue, { token, ...compared });
  } finally {
    await queue.close();
  }
  return token;
}

/** Dry runs of a tenant that wait or are under way. @throws StoreUnavailableError */
export async function pendingDryRuns(store: Store, tenant: string): Promise<number> {
  const queue = dryRunJobs(store);
  try {
    const tasks = await queue.pending();
    return tasks.filter((task) => task.tenant === tenant).length;
  } finally {
    await queue.close();
  }
}
