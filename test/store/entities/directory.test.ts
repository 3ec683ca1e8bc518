import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOriginIds } from '../../../src/store/entities/directory.ts';
import { keys } from '../../../src/store/keys.ts';
import { takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const source = { tenant: 'acme', sourceId: 'src' };
const reported = { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };

async function sentBytes({ client }: Store): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
}

test('directory: a page of all types is in order, without reading a page of each type', async () => {
  const store = await redis.openEmptyStore(1);
  const lease = await takeLease(store, 0, 'worker', 60_000);
  assert.ok(lease !== null);
  const writes = new PartitionWrites();
  const ids: string[] = [];
  for (let number = 0; number < 40_000; number++) {
    const [originId, type] = [`an-originid-of-some-length-${number}`, `type-${number % 20}`];
    ids.push(originId);
    writes.list(keys.directory(lease.tag, source.tenant, source.sourceId, type), originId, 'new');
    writes.set(keys.entityTypes(lease.tag, source.tenant, source.sourceId), type, Buffer.from('1'));
  }
  await commit(store, lease, writes, reported);
  ids.sort();
  const before = await sentBytes(store);
  assert.deepEqual(
    await listOriginIds(store, source, { type: null, after: null, limit: 1_000 }),
    ids.slice(0, 1_000),
  );
  const sent = (await sentBytes(store)) - before;
  assert.ok(sent < 350_000, `${sent} bytes for a page of 1,000`);
  const after = ids[999] ?? '';
  assert.deepEqual(
    await listOriginIds(store, source, { type: null, after, limit: 39_990 }),
    ids.slice(1_000),
  );
});
