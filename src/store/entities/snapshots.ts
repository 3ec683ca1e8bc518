/** Source entities for a backup: complete, with everything that cannot be recomputed. */
import type { StoredEntity } from '../../contract/entity.ts';
import { readProcessed } from '../derived/processed.ts';
import type { ProcessedRecord } from '../derived/processed-record.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { readEntities, scanOriginIds } from './entities.ts';

export interface EntitySnapshot {
  readonly entity: StoredEntity;
  /** Its last outputs, with the ages of its claims; null if not processed yet. */
  readonly processed: ProcessedRecord | null;
}

/** Maximum total size of entities that are read together, to limit memory. */
const bytesPerPortion = 8 * 1024 * 1024;

/**
 * Yields the entities of a source in a partition, in portions. As with HSCAN, entities that exist during the whole scan appear
 * at least once, possibly twice.
 * @throws StoreUnavailableError
 */
export async function* scanSnapshots(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): AsyncGenerator<EntitySnapshot[]> {
  const tag = store.partitions.tag(partition);
  for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
    const sizes = await sizesOf(store, keys.entities(tag, tenant, sourceId), originIds);
    for (const portion of portionsOf(originIds, sizes)) {
      // Read records before entities, so that a record may be behind its entity (as with pending work) but never ahead.
      const records = await readProcessed(store, tag, tenant, sourceId, portion);
      const refs = portion.map((originId) => ({ sourceId, originId }));
      const entities = await readEntities(store, tenant, refs);
      yield entities.flatMap((entity, index) =>
        entity === null ? [] : [{ entity, processed: records[index] ?? null }],
      );
    }
  }
}

async function sizesOf(store: Store, key: string, originIds: readonly string[]): Promise<number[]> {
  return await answerOf(Promise.all(originIds.map((originId) => store.client.hstrlen(key, originId))));
}

function* portionsOf(originIds: readonly string[], sizes: readonly number[]): Generator<string[]> {
  let portion: string[] = [];
  let bytes = 0;
  for (const [index, originId] of originIds.entries()) {
    portion.push(originId);
    bytes += sizes[index] ?? 0;
    if (bytes < bytesPerPortion) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}
