import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { readBacklog } from '../../../src/store/partitions/partition-state.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';

const redis = await TestRedis.start();
const ageMs = 50;

/** Saves an entity in a state that differs from the previous one. */
async function save(store: Store, state: number): Promise<void> {
  const entity = { originId: 'a', type: 'page', url: `/${state}`, originParentId: null, redirects: [] };
  await acceptEntities(store, {
    tenant: 'acme',
    sourceId: 'cms',
    force: false,
    entities: [encodeEntity({ ...entity, properties: { state } })],
  });
}

test('backlog: the lag is the age of the first waiting entity, saved once or several times', async () => {
  const store = await redis.openEmptyStore(1);
  assert.deepEqual(await readBacklog(store, 0), { owner: null, entries: 0, lagMs: 0 });
  for (let state = 1; state <= 3; state += 1) {
    const startedMs = Date.now();
    await save(store, state);
    const savedMs = Date.now();
    await sleep(ageMs);
    const leastMs = Date.now() - savedMs;
    const { entries, lagMs } = await readBacklog(store, 0);
    assert.equal(entries, state);
    assert.ok(lagMs >= leastMs - 1 && lagMs <= Date.now() - startedMs + 1, `${lagMs} ms after ${leastMs}`);
  }
});
