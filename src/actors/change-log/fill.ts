/** Makes the change log whole where a store was written before there was one (docs/design/changes.md "Stores from before"). */
import { ToldViews } from '../../store/change-log/told-views.ts';
import { wholeLogField } from '../../store/change-log/views.ts';
import { processedSources, scanProcessed } from '../../store/derived/processed.ts';
import { keys } from '../../store/keys.ts';
import { HashWrites } from '../../store/partitions/commit.ts';
import { answerOf } from '../../store/redis/errors.ts';
import type { Store } from '../../store/store.ts';

const present = Buffer.from('1');

/** True when every view of the partition is known to stand in its log. @throws StoreUnavailableError */
export async function isLogWhole(store: Store, tag: string): Promise<boolean> {
  return (await answerOf(store.client.hexists(keys.logs(tag), wholeLogField))) === 1;
}

/** For the commit with which the log becomes whole. */
export function markWhole(writes: HashWrites, tag: string): void {
  writes.set(keys.logs(tag), wholeLogField, present);
}

/** What a store from before lacks: entries of the change log, and of the directory. */
export interface Recorded {
  readonly told: ToldViews;
  readonly writes: HashWrites;
}

/** All entities and views that processed records of the partition name, a portion at a time. @throws StoreUnavailableError */
export async function* recordedViews(store: Store, tag: string): AsyncGenerator<Recorded> {
  for (const { tenant, sourceId } of await processedSources(store, tag)) {
    for await (const records of scanProcessed(store, tag, tenant, sourceId)) {
      const told = new ToldViews();
      const writes = new HashWrites();
      for (const { originId, record } of records) {
        writes.list(keys.directory(tag, tenant, sourceId, record.type), originId, true);
        writes.set(keys.entityTypes(tag, tenant, sourceId), record.type, present);
        for (const { kind, environmentId, name: alias, bytesDigest } of record.outputs) {
          if (kind !== 'view' || bytesDigest.length === 0) continue;
          told.there({ tenant, environmentId }, { sourceId, originId, alias });
        }
      }
      yield { told, writes };
    }
  }
}
