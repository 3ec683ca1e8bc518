/** Processed records as earlier versions wrote them. */
import { readProcessed } from '../../../src/store/derived/processed.ts';
import { encodeProcessed, type ProcessedOutput } from '../../../src/store/derived/processed-record.ts';
import { keys } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { tenant } from './platform.ts';

/** Changes what the records of all entities of `src-1` contain about their outputs. */
export async function changeRecords(
  store: Store,
  change: (output: ProcessedOutput) => ProcessedOutput,
): Promise<void> {
  for (const tag of store.partitions.tags) {
    const key = keys.processed(tag, tenant, 'src-1');
    const originIds = await store.client.hkeys(key);
    if (originIds.length === 0) continue;
    const records = await readProcessed(store, tag, tenant, 'src-1', originIds);
    for (const [at, record] of records.entries()) {
      if (record === null) continue;
      const changed = { ...record, outputs: record.outputs.map(change) };
      await store.client.hset(key, originIds[at] ?? '', encodeProcessed(changed));
    }
  }
}
