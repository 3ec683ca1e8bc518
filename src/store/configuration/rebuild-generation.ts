/** Which configuration generations were published, and for which of them the rebuild was put into the queue. */

import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

export interface Generations {
  /** Active generation; 0 when none was published. */
  readonly active: number;
  /** Last generation whose rebuild jobs were all added. */
  readonly enqueued: number;
}

/** @throws StoreUnavailableError */
export async function readGenerations(store: Store): Promise<Generations> {
  const [active, enqueued] = await answerOf(store.client.hmget(keys.configuration, 'generation', 'rebuilt'));
  return { active: Number(active ?? 0), enqueued: Number(enqueued ?? 0) };
}

/** Notes that all rebuild jobs of a generation are in the queue. @throws StoreUnavailableError */
export async function noteEnqueued(store: Store, generation: number): Promise<void> {
  await answerOf(store.client.hset(keys.configuration, 'rebuilt', generation));
}
