import { countItems, type ScopedIndex } from '../../store/derived/items.ts';
import type { Store } from '../../store/store.ts';

/** Items of an index in all partitions. @throws StoreUnavailableError */
export async function itemsOf(store: Store, index: ScopedIndex): Promise<number> {
  const counts = await Promise.all(
    store.partitions.tags.map((_, partition) => countItems(store, partition, index)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
