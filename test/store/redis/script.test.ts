import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { AutoFields } from '../../../src/store/entities/auto-fields.ts';
import { readEntities, removeEntities } from '../../../src/store/entities/entities.ts';
import { encodeEntity } from '../../../src/store/entities/entity-record.ts';
import { StoreUnavailableError } from '../../../src/store/redis/redis-errors.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { SlowRedis } from '../../support/slow-redis.ts';
import { until } from '../../support/until.ts';

const redis = await TestRedis.start();
const source = { tenant: 'acme', sourceId: 'source-1' };

async function save(store: Store, title: string): Promise<void> {
  const fields = { originId: '1', type: 'page', url: null, originParentId: null, redirects: [] };
  const entity: SourceEntity = { ...fields, properties: { title } };
  await acceptEntities(store, { ...source, force: false, entities: [encodeEntity(entity)] });
}

function remove(store: Store): Promise<unknown> {
  return removeEntities(store, { ...source, originIds: ['1'] });
}

/** Decides the type of a field, as a save does. */
async function decide(store: Store, type: FieldType): Promise<unknown> {
  return await new AutoFields(store).decide(source.tenant, source.sourceId, 'page', new Map([['day', type]]));
}

async function titleIn(store: Store): Promise<unknown> {
  const [stored] = await readEntities(store, source.tenant, [{ sourceId: source.sourceId, originId: '1' }]);
  return stored?.properties.title;
}

/** Closes the connection of a front, which then opens another. */
async function breakConnection({ client }: Store): Promise<void> {
  assert.ok(client instanceof Redis);
  const closed = once(client, 'close');
  client.stream.destroy();
  await closed;
}

/** The stores of two fronts: one on a connection that can be stalled, and one on a connection of its own. */
async function stores(context: TestContext, commandTimeoutMs: number) {
  const other = await redis.openEmptyStore(1, { commandTimeoutMs });
  const wire = await SlowRedis.start(() => redis.port);
  const address = { kind: 'single', url: `${wire.url}/0` } as const;
  const stalled = await openStore({ address, partitionCount: 1, commandTimeoutMs });
  context.after(async () => {
    await stalled.close();
    await wire.stop();
  });
  await save(stalled, 'first');
  return { wire, stalled, other };
}

for (const [name, act] of [
  ['save', (store: Store) => save(store, 'late')],
  ['delete', remove],
] as const) {
  test(`timely script: a ${name} that reaches Redis after its time limit changes nothing`, async (context) => {
    const { wire, stalled, other } = await stores(context, 300);
    wire.stall();
    await assert.rejects(act(stalled), StoreUnavailableError);
    await save(other, 'newer');
    wire.resume();
    // On the same connection, so it arrives after the late call.
    assert.equal(await titleIn(stalled), 'newer');
  });
}

test('timely script: a field type that reaches Redis after its time limit is not decided', async (context) => {
  const { wire, stalled, other } = await stores(context, 300);
  await decide(other, 'date');
  wire.stall();
  await assert.rejects(decide(stalled, 'keywordText'), StoreUnavailableError);
  wire.resume();
  await stalled.client.ping();
  const fields = await new AutoFields(other).read(source.tenant, source.sourceId, 'page');
  assert.equal(fields?.get('day'), 'date');
});

test('timely script: a save that is delayed for less than its time limit is stored', async (context) => {
  const { wire, stalled, other } = await stores(context, 30_000);
  wire.stall();
  const saved = save(stalled, 'delayed');
  await save(other, 'newer');
  wire.resume();
  await saved;
  assert.equal(await titleIn(stalled), 'delayed');
});

test('timely script: a call is made again if the clock of Redis is ahead of what the process knows', async (context) => {
  const { stalled } = await stores(context, 5_000);
  // The process was suspended, and its own clock with it.
  const former = performance.now.bind(performance);
  context.mock.method(performance, 'now', () => former() - 60_000);
  await save(stalled, 'second');
  assert.equal(await titleIn(stalled), 'second');
});

test('timely script: a save fails only at its time limit if its connection breaks, because Redis may still get it', async (context) => {
  const { wire, stalled, other } = await stores(context, 2_000);
  const deliver = wire.forgetAll();
  const saved = assert.rejects(save(stalled, 'late'), StoreUnavailableError);
  await sleep(100);
  wire.refuse();
  await breakConnection(stalled);
  await saved;
  await save(other, 'newer');
  deliver();
  await sleep(200);
  assert.equal(await titleIn(other), 'newer');
});

test('timely script: a save is repeated until its time limit if its connection breaks', async (context) => {
  const { wire, stalled } = await stores(context, 10_000);
  const deliver = wire.forgetAll();
  const saved = save(stalled, 'second');
  await sleep(100);
  wire.refuse();
  await breakConnection(stalled);
  await sleep(1_000);
  await wire.accept();
  await saved;
  deliver();
  assert.equal(await titleIn(stalled), 'second');
});

test('timely script: a save fails immediately if there was no connection to send it on', async (context) => {
  const { wire, stalled } = await stores(context, 30_000);
  wire.refuse();
  await breakConnection(stalled);
  await assert.rejects(save(stalled, 'never sent'), StoreUnavailableError);
});

for (const [name, behindMs, notice] of [
  ['another connection may be to a Redis with another clock', 8_000, breakConnection],
  ['the clock of Redis may have been set back while nothing was saved', 60_000, async () => {}],
] as const) {
  test(`timely script: ${name}`, async (context) => {
    const { wire, stalled, other } = await stores(context, 300);
    await notice(stalled);
    // From now on, the clock of Redis is behind what the process knows.
    const former = performance.now.bind(performance);
    context.mock.method(performance, 'now', () => former() + behindMs);
    await until('it is connected', async () => stalled.client.status === 'ready');
    wire.stall();
    await assert.rejects(save(stalled, 'late'), StoreUnavailableError);
    await save(other, 'newer');
    wire.resume();
    assert.equal(await titleIn(stalled), 'newer');
  });
}
