/** Which tenants may look at the rebuild of a generation: its id is easy to guess. */
import { jobKnownSeconds } from '../../contract/limits.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** Notes that a tenant was given the id of a rebuild. @throws StoreUnavailableError */
export async function noteRebuildOf(store: Store, tenant: string, generation: number): Promise<void> {
  await answerOf(store.client.set(keys.rebuildOf(tenant, generation), '1', 'EX', jobKnownSeconds));
}

/** @throws StoreUnavailableError */
export async function isRebuildOf(store: Store, tenant: string, generation: number): Promise<boolean> {
  return (await answerOf(store.client.exists(keys.rebuildOf(tenant, generation)))) === 1;
}
