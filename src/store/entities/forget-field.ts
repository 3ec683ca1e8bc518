import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

const forgetScript = new Script<0 | 1>('entities/forget-field', 2);

/**
 * Removes a field from a hash that lists what a partition has, unless the partition has some of it: a purge that was paused for
 * long may do this when the source is configured again.
 * @param list ordered list of the entities that the field counts
 * @throws StoreUnavailableError
 */
export async function forgetField(store: Store, hash: string, field: string, list: string): Promise<void> {
  await forgetScript.run(store.client, [hash, list], [field]);
}
