import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { acceptEntities } from '../../../src/store/entities/accept.ts';
import { readEntities, removeEntities, scanOriginIds } from '../../../src/store/entities/entities.ts';
import {
  type EncodedEntity,
  type EncodedRecord,
  encodeEntity,
} from '../../../src/store/entities/entity-record.ts';
import { keys } from '../../../src/store/keys.ts';
import { IntakeReader } from '../../../src/store/partitions/intake.ts';
import { packForLua } from '../../../src/store/redis/lua-list.ts';
import { TimelyScript } from '../../../src/store/redis/script.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStreamSource } from '../../../src/store/streams/shared-streams.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';
import { LongestTurn } from '../../support/turns.ts';

const redis = await TestRedis.start();
const tenant = 'acme';
const sourceId = 'source-1';

function entity(originId: string, properties: JsonObject, fields: Partial<SourceEntity> = {}): SourceEntity {
  return { originId, type: 'page', url: null, originParentId: null, redirects: [], properties, ...fields };
}

async function accept(store: Store, entities: readonly SourceEntity[], force = false) {
  return acceptEntities(store, { tenant, sourceId, force, entities: entities.map(encodeEntity) });
}

async function read(store: Store, originId: string) {
  const [stored] = await readEntities(store, tenant, [{ sourceId, originId }]);
  return stored ?? null;
}

/** Last sequence of every partition's stream. */
async function ends(store: Store): Promise<number[]> {
  return Promise.all(
    store.partitions.tags.map(async (tag) =>
      Number((await store.client.hget(keys.clock(tag), 'stream')) ?? 0),
    ),
  );
}

test('entities: an accepted entity is stored completely and announced once', async () => {
  const store = await redis.openEmptyStore(4);
  const sent = entity(
    '1',
    { title: 'Lyon', nested: { __proto__: null, list: [1, 2.5, null, true] } },
    {
      url: '/lyon',
      originParentId: 'france',
      redirects: ['/l', '/lugdunum'],
    },
  );
  const { outcomes, version } = await accept(store, [sent]);
  assert.deepEqual(outcomes, ['changed']);
  const stored = await read(store, '1');
  assert.ok(stored !== null);
  const { stamp, bornStamp, urlStamp, ...rest } = stored;
  assert.equal(JSON.stringify(rest), JSON.stringify({ sourceId, ...orderedAs(rest, sent) }));
  assert.ok(Math.abs(stamp / 1000 - Date.now()) < 60_000, 'the current time in microseconds');
  assert.deepEqual([bornStamp, urlStamp], [stamp, stamp]);

  const partition = store.partitions.ofEntity(sourceId, '1');
  assert.deepEqual(version, new Map([[partition, 1]]));
  const source = openStreamSource(store);
  const entries = await new IntakeReader(source, store.partitions.tag(partition), 0).next(10, 10);
  source.close();
  const bytes = encodeEntity(sent).encode().body.length;
  assert.deepEqual(entries, [{ kind: 'entities', sequence: 1, tenant, sourceId, originIds: ['1'], bytes }]);
});

function orderedAs(order: object, value: SourceEntity): object {
  const members = Object.keys(order).filter((name) => name !== 'sourceId');
  return Object.fromEntries(members.map((name) => [name, value[name as keyof SourceEntity]]));
}

test('entities: an unchanged entity adds no stream entry and keeps its stamps', async () => {
  const store = await redis.openEmptyStore(4);
  await accept(store, [entity('1', { a: 1, b: { c: 1, d: 2 } }, { redirects: ['/x'] })]);
  const [before, endsBefore] = [await read(store, '1'), await ends(store)];
  const again = await accept(store, [entity('1', { b: { d: 2, c: 1 }, a: 1 }, { redirects: ['/x'] })]);
  assert.deepEqual(again.outcomes, ['unchanged'], 'the order of object keys does not matter');
  assert.deepEqual(await ends(store), endsBefore);
  assert.deepEqual(await read(store, '1'), before);
  const partition = store.partitions.ofEntity(sourceId, '1');
  assert.deepEqual(again.version, new Map([[partition, 1]]), 'the state it was compared with');
});

test('entities: a difference in any stored field makes an entity changed', async () => {
  const store = await redis.openEmptyStore(4);
  const base = entity('1', { a: [1, 2] }, { url: '/a', originParentId: 'p', redirects: ['/r', '/s'] });
  const others: SourceEntity[] = [
    { ...base, url: '/b' },
    { ...base, url: null },
    { ...base, originParentId: null },
    { ...base, redirects: ['/s', '/r'] },
    { ...base, redirects: [] },
    { ...base, properties: { a: [2, 1] } },
    { ...base, properties: { a: [1, 2], b: null } },
    { ...base, properties: { a: ['1', 2] } },
  ];
  for (const other of others) {
    assert.deepEqual((await accept(store, [base], true)).outcomes, ['changed']);
    assert.deepEqual((await accept(store, [other], true)).outcomes, ['changed'], JSON.stringify(other));
  }
});

test('entities: any properties round-trip as they were sent', async () => {
  const store = await redis.openEmptyStore(4);
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      async (values) => {
        const properties = JSON.parse(JSON.stringify(values)) as JsonObject;
        await accept(store, [entity('any', properties)]);
        assert.equal(JSON.stringify((await read(store, 'any'))?.properties), JSON.stringify(properties));
      },
    ),
    { numRuns: runs(50) },
  );
});

test('entities: the outcome of a delete is remembered for as long as a copy of the call may arrive', async () => {
  const store = await redis.openEmptyStore(1, { commandTimeoutMs: 3_600_000 });
  await accept(store, [entity('1', {})]);
  await removeEntities(store, { tenant, sourceId, originIds: ['1'] });
  const [remembered = ''] = await store.client.keys('*:removal:*');
  assert.ok((await store.client.pttl(remembered)) > 3_590_000);
});

test('entities: another type is a conflict and changes nothing, unless it is forced', async () => {
  const store = await redis.openEmptyStore(4);
  await accept(store, [entity('1', { a: 1 })]);
  const before = await read(store, '1');
  const other = entity('1', { a: 2 }, { type: 'Page' });
  assert.deepEqual((await accept(store, [other])).outcomes, ['typeConflict'], 'types are case-sensitive');
  assert.deepEqual(await read(store, '1'), before);
  assert.deepEqual((await accept(store, [entity('1', { a: 1 }, { type: 'x' })])).outcomes, ['typeConflict']);
  assert.deepEqual((await accept(store, [other], true)).outcomes, ['changed']);
  assert.equal((await read(store, '1'))?.type, 'Page');
  assert.deepEqual((await accept(store, [entity('1', { a: 3 })])).outcomes, ['typeConflict']);
  await removeEntities(store, { tenant, sourceId, originIds: ['1'] });
  assert.deepEqual((await accept(store, [entity('1', { a: 3 })])).outcomes, ['changed'], 'after a delete');
});

test('entities: a bulk request is stored even if some of it conflicts, with each outcome at its index', async () => {
  const store = await redis.openEmptyStore(4);
  await accept(store, [entity('b', { a: 1 }), entity('c', { a: 1 })]);
  const { outcomes } = await accept(store, [
    entity('a', { a: 1 }),
    entity('b', { a: 1 }, { type: 'other' }),
    entity('c', { a: 1 }),
    entity('d', { a: 1 }),
  ]);
  assert.deepEqual(outcomes, ['changed', 'typeConflict', 'unchanged', 'changed']);
});

test('entities: several states of one entity in a request are applied in order', async () => {
  const store = await redis.openEmptyStore(4);
  const { outcomes } = await accept(store, [
    entity('1', { a: 1 }),
    entity('1', { a: 2 }),
    entity('1', { a: 3 }),
  ]);
  assert.deepEqual(outcomes, ['changed', 'changed', 'changed']);
  assert.deepEqual((await read(store, '1'))?.properties, { a: 3 });
});

/** A store whose front has just received many unchanged entities, and so expects more of them. */
async function storeAmidRepetition(entities: readonly SourceEntity[]): Promise<Store> {
  const store = await redis.openEmptyStore(4);
  await accept(store, entities);
  const { outcomes } = await accept(store, entities);
  assert.ok(outcomes.every((outcome) => outcome === 'unchanged'));
  return store;
}

test('entities: while nearly all entities are unchanged, only those that differ are encoded and sent', async () => {
  const originIds = Array.from({ length: 30 }, (_, index) => `e${index}`);
  const stored = originIds.map((originId) => entity(originId, { a: 1 }));
  const store = await storeAmidRepetition(stored);
  const endsBefore = await ends(store);
  const unasked = stored.map(encodeEntity).map(({ originId, type, contentHash, size }) => ({
    originId,
    type,
    contentHash,
    size,
    encode(): EncodedRecord {
      throw new Error(`the body of ${originId} was encoded`);
    },
  }));
  const entities = [
    ...unasked.slice(0, 10),
    ...[entity('e10', { a: 2 }), entity('new', {}), entity('e11', { a: 1 }, { type: 'x' })].map(encodeEntity),
    ...unasked.slice(12),
  ];
  const { outcomes, version } = await acceptEntities(store, { tenant, sourceId, force: false, entities });
  const expected = originIds.map(() => 'unchanged');
  expected.splice(10, 2, 'changed', 'changed', 'typeConflict');
  assert.deepEqual(outcomes, expected);
  assert.deepEqual((await read(store, 'e10'))?.properties, { a: 2 });
  const endsAfter = await ends(store);
  const grown = new Set(['e10', 'new'].map((originId) => store.partitions.ofEntity(sourceId, originId)));
  for (const [partition, end] of endsAfter.entries()) {
    assert.equal(end, (endsBefore[partition] ?? 0) + (grown.has(partition) ? 1 : 0));
    assert.equal(version.get(partition), end, 'the state that each entity was compared with or changed to');
  }
  const allNew = originIds.map((originId) => entity(originId, { a: 3 }));
  assert.deepEqual(new Set((await accept(store, allNew, true)).outcomes), new Set(['changed']));
});

test('entities: with many repeated entities, outcomes and state are the same as with individual comparisons', async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `r${index}`);
  const change = fc.record({ originId: fc.constantFrom(...ids), title: fc.nat({ max: 2 }) });
  // Most requests repeat what is stored; a few have changes, some of them to the same entity.
  const request = fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(change, { maxLength: 8 }));
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 12 }), async (requests) => {
      const store = await redis.openEmptyStore(2);
      const state = new Map(ids.map((originId) => [originId, 0]));
      const all = () => [...state].map(([originId, title]) => entity(originId, { title }));
      await accept(store, all());
      for (const changes of requests) {
        const sent = [...all(), ...changes.map(({ originId, title }) => entity(originId, { title }))];
        const touched = new Set<string>();
        const { outcomes } = await accept(store, sent);
        for (const [at, { originId, properties }] of sent.entries()) {
          const isNew = state.get(originId) !== properties.title;
          if (isNew) touched.add(originId);
          // What a request changed itself counts as changed by it in later states.
          assert.equal(outcomes[at], isNew || touched.has(originId) ? 'changed' : 'unchanged');
          state.set(originId, Number(properties.title));
        }
        const stored = await readEntities(
          store,
          tenant,
          ids.map((originId) => ({ sourceId, originId })),
        );
        assert.deepEqual(
          stored.map((one) => one?.properties.title),
          [...state.values()],
        );
      }
    }),
    { numRuns: runs(40) },
  );
});

test('entities: of the requests that wait for a hanging Redis, only a few are not yet encoded', async () => {
  const store = await redis.openEmptyStore(1);
  let encoded = 0;
  const waiting = (originId: string): EncodedEntity => {
    const whole = encodeEntity(entity(originId, {}));
    const { type, contentHash, size } = whole;
    return {
      originId,
      type,
      contentHash,
      size,
      encode() {
        encoded += 1;
        return whole.encode();
      },
    };
  };
  const calls = Array.from({ length: 1000 }, (_, index) =>
    acceptEntities(store, { tenant, sourceId, force: false, entities: [waiting(`w${index}`)] }),
  );
  // All of them are queued within one turn of the event loop, and none is sent.
  for (let turn = 0; turn < 100; turn += 1) await Promise.resolve();
  assert.equal(encoded, 1000 - 256);
  await Promise.all(calls);
});

test('entities: several states of one entity are applied in order also while nearly all entities are unchanged', async () => {
  const store = await storeAmidRepetition([entity('1', { a: 1 })]);
  const { outcomes } = await accept(store, [
    entity('1', { a: 1 }),
    entity('1', { a: 2 }),
    entity('1', { a: 1 }),
  ]);
  assert.deepEqual(outcomes, ['unchanged', 'changed', 'changed']);
  assert.deepEqual((await read(store, '1'))?.properties, { a: 1 });
});

test('entities: stamps increase with every change, even if the clock of a front stops or goes back', async (context) => {
  const store = await redis.openEmptyStore(1);
  const stamps: number[] = [];
  const now = Date.now();
  for (const clock of [now, now, now - 60_000, now - 120_000, now + 5]) {
    context.mock.timers.enable({ apis: ['Date'], now: clock });
    await accept(store, [entity('1', { a: stamps.length })]);
    context.mock.timers.reset();
    stamps.push((await read(store, '1'))?.stamp ?? 0);
  }
  for (const [index, stamp] of stamps.entries()) assert.ok(index === 0 || stamp > (stamps[index - 1] ?? 0));
});

test('entities: entities of one request have increasing stamps in its order, in any partitions', async () => {
  const store = await redis.openEmptyStore(16);
  const originIds = Array.from({ length: 40 }, (_, index) => `e${index}`);
  await accept(
    store,
    originIds.map((originId) => entity(originId, {})),
  );
  const stored = await readEntities(
    store,
    tenant,
    originIds.map((originId) => ({ sourceId, originId })),
  );
  const stamps = stored.map((one) => one?.stamp ?? 0);
  assert.deepEqual(
    stamps,
    [...stamps].sort((a, b) => a - b),
  );
  assert.equal(new Set(stamps).size, 40);
});

test('entities: bornStamp is kept until the entity is deleted, urlStamp until the url changes', async () => {
  const store = await redis.openEmptyStore(1);
  const states = [];
  for (const [title, url] of [
    ['a', '/x'],
    ['b', '/x'],
    ['c', '/y'],
    ['d', '/x'],
    ['e', null],
  ] as const) {
    await accept(store, [entity('1', { title }, { url })]);
    const stored = await read(store, '1');
    assert.ok(stored !== null);
    states.push(stored);
  }
  const [a, b, c, d, e] = states;
  assert.ok(a && b && c && d && e);
  assert.deepEqual(new Set(states.map(({ bornStamp }) => bornStamp)), new Set([a.stamp]));
  assert.equal(b.urlStamp, a.stamp);
  assert.equal(c.urlStamp, c.stamp);
  assert.equal(d.urlStamp, d.stamp, 'the url changed and changed back');
  assert.equal(e.urlStamp, e.stamp);
  await removeEntities(store, { tenant, sourceId, originIds: ['1'] });
  await accept(store, [entity('1', { title: 'a' }, { url: '/x' })]);
  const reborn = await read(store, '1');
  assert.ok(reborn !== null && reborn.bornStamp > e.stamp);
  assert.deepEqual([reborn.bornStamp, reborn.urlStamp], [reborn.stamp, reborn.stamp]);
});

test('entities: tenants and sources never share entities, whatever ids they use', async () => {
  const store = await redis.openEmptyStore(4);
  const encoded = [encodeEntity(entity('1', { of: 'acme' }))];
  await acceptEntities(store, { tenant: 'acme', sourceId: 's', force: false, entities: encoded });
  assert.deepEqual(await readEntities(store, 'other', [{ sourceId: 's', originId: '1' }]), [null]);
  assert.deepEqual(await readEntities(store, 'acme', [{ sourceId: 't', originId: '1' }]), [null]);
  const removal = await removeEntities(store, { tenant: 'other', sourceId: 's', originIds: ['1'] });
  assert.deepEqual(removal.removed, [false]);
});

test('entities: a delete reports which entities existed, and announces only those', async () => {
  const store = await redis.openEmptyStore(1);
  await accept(store, [entity('1', {}), entity('2', {})]);
  const { removed, version } = await removeEntities(store, {
    tenant,
    sourceId,
    originIds: ['1', 'x', '1', '2'],
  });
  assert.deepEqual(removed, [true, false, false, true]);
  assert.deepEqual(version, new Map([[0, 2]]));
  const source = openStreamSource(store);
  assert.deepEqual(await new IntakeReader(source, store.partitions.tag(0), 1).next(10, 10), [
    { kind: 'entities', sequence: 2, tenant, sourceId, originIds: ['1', '2'], bytes: 0 },
  ]);
  source.close();
  const again = await removeEntities(store, { tenant, sourceId, originIds: ['1', '2'] });
  assert.deepEqual(again.removed, [false, false]);
  assert.deepEqual(await ends(store), [2]);
  assert.equal(await read(store, '1'), null);
});

/** Runs scripts twice, as the client library does when it resends them after a reconnect. */
const acceptAgain = new TimelyScript<[number[], Buffer]>('entities/accept', 1, ['entity-heads']);
const removeAgain = new TimelyScript<[number, number[]]>('entities/remove', 4);

function acceptCall(store: Store, token: string, entities: readonly SourceEntity[]) {
  const tag = store.partitions.tag(0);
  const encoded = entities.map(encodeEntity);
  const records = encoded.map((one, index) => {
    const stamp = Buffer.alloc(8);
    stamp.writeDoubleBE(1_000_000 + index);
    return Buffer.concat([one.contentHash, Buffer.from(token), Buffer.of(1), stamp, one.encode().body]);
  });
  const group = [
    keys.clock(tag),
    keys.stream(tag),
    keys.entities(tag, tenant, sourceId),
    keys.names(tag, tenant, sourceId),
    tenant,
    sourceId,
    '0'.repeat(encoded.length),
    encoded.map(({ originId }) => originId),
    records,
    [],
  ];
  return acceptAgain.run(store, [keys.clock(tag)], [packForLua([group]), token, 1]);
}

test('entities: an accept call that is sent twice returns the same and does nothing the second time', async () => {
  const store = await redis.openEmptyStore(1);
  const sent = [
    entity('1', { a: 1 }),
    entity('2', { a: 1 }),
    entity('1', { a: 2 }),
    entity('1', { a: 3 }, { url: '/z' }),
  ];
  const first = await acceptCall(store, '12345678', sent);
  const [before, endsBefore] = [await read(store, '1'), await ends(store)];
  const second = await acceptCall(store, '12345678', sent);
  assert.deepEqual(second, first);
  assert.deepEqual(await ends(store), endsBefore);
  assert.deepEqual(await read(store, '1'), before);
});

test('entities: an accept call that is sent again after a newer save or delete changes nothing', async () => {
  const store = await redis.openEmptyStore(1);
  const sent = ['1', '2', '3'].map((originId) => entity(originId, { a: 1 }));
  const [, first] = await acceptCall(store, '12345678', sent);
  await accept(store, [entity('1', { a: 2 })]);
  await removeEntities(store, { tenant, sourceId, originIds: ['2'] });
  const endsBefore = await ends(store);
  const [, second] = await acceptCall(store, '12345678', sent);
  assert.deepEqual(second, first);
  assert.deepEqual(await ends(store), endsBefore);
  assert.deepEqual((await read(store, '1'))?.properties, { a: 2 });
  assert.equal(await read(store, '2'), null);
});

test('entities: senders that have called nothing for a day are forgotten', async () => {
  const store = await redis.openEmptyStore(1);
  const clock = keys.clock(store.partitions.tag(0));
  const callAt = (hoursAgo: number) =>
    `${'9'.padStart(16, '0')}${String(Date.now() - hoursAgo * 3_600_000).padStart(16, '0')}`;
  await store.client.hset(clock, { 'sender:old': callAt(25), 'sender:new': callAt(23) });
  await accept(store, [entity('1', {})]);
  const fields = await store.client.hkeys(clock);
  assert.deepEqual([fields.includes('sender:old'), fields.includes('sender:new')], [false, true]);
});

test('entities: a resent call also refuses the state that it refused before, though another state was accepted', async () => {
  const store = await redis.openEmptyStore(1);
  const sent = [entity('1', { a: 1 }), entity('1', { a: 2 }, { type: 'other' }), entity('1', { a: 3 })];
  const [, first] = await acceptCall(store, '12345678', sent);
  assert.equal(first.toString(), '121');
  const [, second] = await acceptCall(store, '12345678', sent);
  assert.equal(second.toString(), '121', 'it is not reported as accepted');
  assert.deepEqual((await read(store, '1'))?.properties, { a: 3 });
});

test('entities: concurrent requests each get their own result, those of one entity in their order', async () => {
  const store = await redis.openEmptyStore(4);
  const numbers = Array.from({ length: 40 }, (_, number) => number);
  await accept(store, [entity('same', {})]);
  const answers = await Promise.all(
    numbers.map((number) =>
      accept(store, [
        entity(`own-${number}`, { number }),
        entity('same', {}),
        entity('taken', { number }),
        entity('own-0', {}, { type: 'other' }),
      ]),
    ),
  );
  for (const [number, { outcomes, version }] of answers.entries()) {
    assert.deepEqual(outcomes, ['changed', 'unchanged', 'changed', 'typeConflict']);
    for (const originId of [`own-${number}`, 'same', 'taken']) {
      assert.ok((version.get(store.partitions.ofEntity(sourceId, originId)) ?? 0) > 0);
    }
  }
  assert.deepEqual((await read(store, 'taken'))?.properties, { number: 39 }, 'the last one wins');
  const entries = (await ends(store)).reduce((sum, end) => sum + end, 0);
  assert.ok(entries < 4 * numbers.length, `merged into fewer entries: ${entries}`);
});

test('entities: types differ whatever their prefix and length', async () => {
  const store = await redis.openEmptyStore(1);
  const types = ['page', 'pages', '', 'p'.repeat(256), '😀'.repeat(256), `${'😀'.repeat(255)}x`];
  for (const type of types) {
    await accept(store, [entity(`of ${type}`, { n: 1 }, { type })]);
    assert.equal((await read(store, `of ${type}`))?.type, type);
    const again = await Promise.all(
      types.map(
        async (other) => (await accept(store, [entity(`of ${type}`, { n: 2 }, { type: other })])).outcomes,
      ),
    );
    const taken = types.filter((_, at) => again[at]?.[0] !== 'typeConflict');
    assert.deepEqual(taken, [type]);
  }
});

test('entities: more entities of a partition than one read holds are compared, including large ones', async () => {
  const store = await redis.openEmptyStore(1);
  const states = (n: number) =>
    Array.from({ length: 50 }, (_, at) =>
      entity(`e${at}`, { n: at % 3 === 0 ? n : 0, text: 'x'.repeat(at * 2_000) }, { url: `/${at}` }),
    );
  await accept(store, states(0));
  for (const n of [1, 2]) {
    const { outcomes } = await accept(store, states(n));
    assert.deepEqual(
      outcomes,
      states(n).map((_, at) => (at % 3 === 0 ? 'changed' : 'unchanged')),
    );
    assert.deepEqual((await read(store, 'e48'))?.properties, states(n)[48]?.properties);
  }
});

test('entities: a request larger than one call to the store is accepted completely', async () => {
  const store = await redis.openEmptyStore(2);
  const many = Array.from({ length: 1500 }, (_, number) => entity(`${number}`, { number }));
  const { outcomes } = await accept(store, many);
  assert.deepEqual(new Set(outcomes), new Set(['changed']));
  assert.deepEqual((await read(store, '1499'))?.properties, { number: 1499 });
});

test('entities: a remove call that is sent twice returns the same and spares entities stored in between', async () => {
  const store = await redis.openEmptyStore(1);
  await accept(store, [entity('1', { a: 1 })]);
  const tag = store.partitions.tag(0);
  const call = () =>
    removeAgain.run(
      store,
      [keys.clock(tag), keys.stream(tag), keys.entities(tag, tenant, sourceId), keys.removal(tag, 'token')],
      [tenant, sourceId, '1', '2'],
    );
  const first = await call();
  assert.deepEqual(first, [2, [1, 0]]);
  await accept(store, [entity('1', { a: 2 })]);
  assert.deepEqual(await call(), first);
  assert.deepEqual((await read(store, '1'))?.properties, { a: 2 });
  assert.ok((await store.client.ttl(keys.removal(tag, 'token'))) > 0, 'its record expires');
});

test('entities: a remove call that found nothing spares entities stored before its second copy', async () => {
  const store = await redis.openEmptyStore(1);
  const tag = store.partitions.tag(0);
  const call = () =>
    removeAgain.run(
      store,
      [keys.clock(tag), keys.stream(tag), keys.entities(tag, tenant, sourceId), keys.removal(tag, 'token')],
      [tenant, sourceId, '1'],
    );
  assert.deepEqual(await call(), [0, [0]]);
  await accept(store, [entity('1', { a: 1 })]);
  assert.deepEqual(await call(), [0, [0]]);
  assert.deepEqual((await read(store, '1'))?.properties, { a: 1 });
});

test('entities: a scan returns all originIds of a partition', async () => {
  const store = await redis.openEmptyStore(2);
  const originIds = Array.from({ length: 600 }, (_, index) => `e${index}`);
  for (let at = 0; at < originIds.length; at += 50) {
    await accept(
      store,
      originIds.slice(at, at + 50).map((originId) => entity(originId, {})),
    );
  }
  const found = new Set<string>();
  for (const partition of [0, 1]) {
    for await (const portion of scanOriginIds(store, partition, tenant, sourceId)) {
      for (const originId of portion) found.add(originId);
    }
  }
  assert.deepEqual([...found].sort(), [...originIds].sort());
});

test('entities: scripts keep working after Redis has lost them', async () => {
  const store = await redis.openEmptyStore(4);
  await accept(store, [entity('1', { a: 1 })]);
  await store.client.script('FLUSH');
  const all = ['2', '3', '4', '5', '6'].map((originId) => accept(store, [entity(originId, { a: 1 })]));
  assert.deepEqual(
    new Set((await Promise.all(all)).map(({ outcomes }) => outcomes[0])),
    new Set(['changed']),
  );
});

test('entities: an entity of millions of values is read in parts, and other work runs in between', async (context) => {
  const store = await redis.openEmptyStore(1);
  const sent = entity('large', { list: Array.from({ length: 1_200_000 }, () => [1]) });
  await accept(store, [sent]);
  const turns = new LongestTurn(context);
  const stored = await read(store, 'large');
  const longestMs = turns.stop();
  assert.deepEqual(stored?.properties, sent.properties);
  // 700 ms without a break; garbage collection counts too.
  assert.ok(longestMs < 250, `the event loop was blocked for ${Math.round(longestMs)} ms`);
});
