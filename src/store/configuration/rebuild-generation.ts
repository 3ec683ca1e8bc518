/**
 * The rebuild of a configuration generation: whether its jobs are queued, and which tenants may see it, because its id is easy
 * to guess.
 */
import { jobKnownSeconds } from '../../contract/limits.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export interface Generations {
  /** Active generation; 0 before the first publication. */
  readonly active: number;
  /** Last generation whose rebuild jobs were all added. */
  readonly enqueued: number;
}

/** @throws StoreUnavailableError */
export async function readGenerations(store: Store): Promise<Generations> {
  const [active, enqueued] = await answerOf(store.client.hmget(keys.configuration, 'generation', 'rebuilt'));
  return { active: Number(active ?? 0), enqueued: Number(enqueued ?? 0) };
}

/** Records that all rebuild jobs of a generation are in the queue. @throws StoreUnavailableError */
export async function recordEnqueued(store: Store, generation: number): Promise<void> {
  await answerOf(store.client.hset(keys.configuration, 'rebuilt', generation));
}

/** Records that a tenant received the id of a rebuild. @throws StoreUnavailableError */
export async function recordRebuildOf(store: Store, tenant: string, generation: number): Promise<void> {
  await answerOf(store.client.set(keys.rebuildOf(tenant, generation), '1', 'EX', jobKnownSeconds));
}

/** @throws StoreUnavailableError */
export async function isRebuildOf(store: Store, tenant: string, generation: number): Promise<boolean> {
  return (await answerOf(store.client.exists(keys.rebuildOf(tenant, generation)))) === 1;
}
