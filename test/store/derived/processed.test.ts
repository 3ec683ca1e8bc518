/** Processed records, read with the lists of names that they omit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processedPortion, readProcessed } from '../../../src/store/derived/processed.ts';
import {
  encodeProcessed,
  type ProcessedRecord,
  processedNamesOf,
} from '../../../src/store/derived/processed-record.ts';
import { keys } from '../../../src/store/keys.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const [tenant, sourceId] = ['acme', 'src-1'];
/** More than the number of records that still contain their names. */
const recordsSeen = 64;

test('processed: a record whose list of names was lost counts as lost, and can be read once the list is back', async () => {
  const store = await redis.openStore(1);
  const tag = store.partitions.tag(0);
  const record: ProcessedRecord = {
    stamp: 7,
    type: 'of a test that nobody else has',
    lookups: [],
    outputs: [],
  };
  for (let seen = 1; seen < recordsSeen; seen += 1) processedNamesOf(record);
  const list = processedNamesOf(record);
  assert.ok(list !== null);
  await store.client.hset(keys.processed(tag, tenant, sourceId), 'lost', encodeProcessed(record, list));
  await store.client.hset(keys.processed(tag, tenant, sourceId), 'whole', encodeProcessed(record));

  const read = () => readProcessed(store, tag, tenant, sourceId, ['lost', 'whole', 'never']);
  assert.deepEqual(await read(), [null, record, null]);
  const { records } = await processedPortion(store, tag, tenant, sourceId, null);
  assert.deepEqual(records, [{ originId: 'whole', record }]);

  await store.client.hset(keys.names(tag, tenant, sourceId), list.digest, list.text);
  assert.deepEqual(await read(), [record, record, null]);
});
