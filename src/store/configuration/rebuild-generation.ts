/** Which configuration generations were published, and for which of them the rebuild was put into the queue. */

import { keys } from '../keys.ts';
import { storeError } from '../redis/errors.ts';
import type { Store } from '../store.ts';

export interface Generations {
  /** Active generation; 0 when none was published. */
  readonly active: number;
  /** Last generation whose rebuild jobs were all added. */
  readonly enqueued: number;
}

/** @throws StoreUnavailableError */
export async function readGenerations(store: Store): Promise<Generations> {
  try {
    const [active, enqueued] = await store.client.hmget(keys.configuration, 'generation', 'rebuilt');
    return { active: Number(active ?? 0), enqueued: Number(enqueued ?? 0) };
  } catch (error) {
    throw storeError(error);
  }
}

/** @throws StoreUnavailableError */
export async function noteEnqueued(store: Store, generation: number): Promise<void> {
  try {
    await store.client.hset(keys.configuration, 'rebuilt', generation);
  } catch (error) {
    throw storeError(error);
  }
}
