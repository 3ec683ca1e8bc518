/** Counts the views and items of sources from their processed records, before they are removed. */

import { scanProcessed } from '../store/derived/processed.ts';
import type { ProcessedOutput } from '../store/derived/processed-record.ts';
import { countEntities } from '../store/entities/entities.ts';
import type { Store } from '../store/store.ts';

export interface SourceName {
  readonly tenant: string;
  readonly sourceId: string;
}

/** Entities of a source, in all partitions. @throws StoreUnavailableError */
export async function entitiesOf(store: Store, { tenant, sourceId }: SourceName): Promise<number> {
  const counts = await Promise.all(
    store.partitions.tags.map((_, partition) => countEntities(store, partition, tenant, sourceId)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Calls `visit` for every view and item that was made of the source's entities. While Redis resizes a hash, some may
 * come twice.
 * @throws StoreUnavailableError
 */
export async function forEachMade(
  store: Store,
  { tenant, sourceId }: SourceName,
  visit: (thing: ProcessedOutput) => void,
): Promise<void> {
  await Promise.all(
    store.partitions.tags.map(async (tag) => {
      for await (const records of scanProcessed(store, tag, tenant, sourceId)) {
        for (const { record } of records) for (const thing of record.outputs) visit(thing);
      }
    }),
  );
}
