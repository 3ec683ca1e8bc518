/** Commits of several partitions in one call, compared with the same commits one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReferenceChanges, referenceText } from '../../../src/store/change-log/references.ts';
import { ReportedViews } from '../../../src/store/change-log/reported-views.ts';
import type { ClaimWrite } from '../../../src/store/claims/claim-records.ts';
import { readServed } from '../../../src/store/claims/claims.ts';
import { claimField, keys } from '../../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { type AlongsideCommit, commit, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import { FencedError } from '../../../src/store/redis/redis-errors.ts';
import type { Store } from '../../../src/store/store.ts';
import type { OwnAnnouncement } from '../../../src/store/streams/changes-stream.ts';
import { listedTexts } from '../../support/ordered-lists.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const scope = { tenant: 'acme', environmentId: 'env' };
const partitions = 3;

interface Owned {
  readonly store: Store;
  readonly leases: readonly TakenLease[];
}

async function owned(database = 0): Promise<Owned> {
  const store = await redis.openEmptyStore(partitions, { database });
  const leases: TakenLease[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const lease = await takeLease(store, partition, 'worker', 60_000);
    assert.ok(lease !== null);
    leases.push(lease);
  }
  return { store, leases };
}

function announcing(checkpoint = 0): OwnAnnouncement {
  return { checkpoint, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
}

function viewsKey({ tag }: TakenLease): string {
  return keys.views(tag, scope.tenant, scope.environmentId, 'source');
}

/** A commit that stores one view. */
function commitView(store: Store, lease: TakenLease, beside: AlongsideCommit = {}): Promise<number> {
  const writes = new PartitionWrites();
  writes.set(viewsKey(lease), 'view', Buffer.from('text'));
  return commit(store, lease, writes, announcing(), 0, beside);
}

async function storedViews({ store, leases }: Owned): Promise<number[]> {
  return await Promise.all(
    leases.map(async (lease) => {
      const isStored = (await store.client.type(viewsKey(lease))) === 'hash';
      const commits = Number(await store.client.hget(keys.owner(lease.tag), 'commits'));
      assert.equal(await store.client.xlen(keys.changes(lease.tag)), commits);
      return isStored ? commits : 0;
    }),
  );
}

async function scriptCalls(store: Store): Promise<number> {
  const facts = await store.client.info('commandstats');
  const counts = [...facts.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].map(([, calls]) => Number(calls));
  return counts.reduce((sum, count) => sum + count, 0);
}

test('commit calls: concurrent commits share one call, and each is numbered and announced separately', async () => {
  const all = await owned();
  const { store, leases } = all;
  const before = await scriptCalls(store);
  assert.deepEqual(await Promise.all(leases.map((lease) => commitView(store, lease))), [1, 1, 1]);
  assert.equal((await scriptCalls(store)) - before, 1);
  assert.deepEqual(await storedViews(all), [1, 1, 1]);
});

test('commit calls: large concurrent commits are sent in several calls', async () => {
  const { store, leases } = await owned();
  const before = await scriptCalls(store);
  const send = (lease: TakenLease) => {
    const writes = new PartitionWrites();
    writes.set(viewsKey(lease), 'large', Buffer.alloc(200 * 1024));
    return commit(store, lease, writes, announcing(), 0);
  };
  assert.deepEqual(await Promise.all(leases.map(send)), [1, 1, 1]);
  assert.equal((await scriptCalls(store)) - before, 3);
});

for (const [who, fault] of [
  ['a fenced owner', ({ leases: [, lease] }: Owned) => ({ ...lease, epoch: 0 })],
  ['an owner of another history', ({ leases: [, lease] }: Owned) => ({ ...lease, onlyIn: 'another' })],
] as const) {
  test(`commit calls: the commit of ${who} is refused, and those in the same call are not`, async () => {
    const all = await owned();
    const { store, leases } = all;
    const sent = leases.map((lease, at) => commitView(store, at === 1 ? { ...lease, ...fault(all) } : lease));
    const [first, second, third] = await Promise.allSettled(sent);
    assert.ok(second?.status === 'rejected' && second.reason instanceof FencedError);
    assert.deepEqual([first?.status, third?.status], ['fulfilled', 'fulfilled']);
    assert.deepEqual(await storedViews(all), [1, 0, 1]);
  });
}

test('commit calls: a commit that fails on a corrupt key does not fail the others in its call', async () => {
  const all = await owned();
  const { store, leases } = all;
  const [, damaged] = leases;
  assert.ok(damaged !== undefined);
  await store.client.set(viewsKey(damaged), 'no hash');
  const sent = await Promise.allSettled(leases.map((lease) => commitView(store, lease)));
  assert.deepEqual(
    sent.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await storedViews(all), [1, 0, 1]);
});

test('commit calls: a commit that is resent with others is applied once', async () => {
  const all = await owned();
  const { store, leases } = all;
  const [first] = leases;
  assert.ok(first !== undefined);
  assert.equal(await commitView(store, first), 1);
  assert.deepEqual(await Promise.all(leases.map((lease) => commitView(store, lease))), [1, 1, 1]);
  assert.deepEqual(await storedViews(all), [1, 1, 1]);
});

/** What one partition commits in a round. */
interface Made {
  readonly moves: readonly {
    readonly action: 'put' | 'drop';
    readonly path: string;
    readonly view: number;
    readonly host: string | null;
    readonly redirect: string | null;
    readonly since: number;
  }[];
  readonly refersTo: readonly number[];
  readonly refersNoMore: readonly number[];
  readonly tells: boolean;
}

const paths = ['/a', '/b', '/c'];

const made: fc.Arbitrary<Made> = fc.record({
  moves: fc.array(
    fc.record({
      action: fc.constantFrom('put' as const, 'put' as const, 'drop' as const),
      path: fc.constantFrom(...paths),
      view: fc.integer({ min: 0, max: 1 }),
      host: fc.constantFrom(null, null, 'a.com'),
      redirect: fc.constantFrom(null, null, '/target'),
      since: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 4 },
  ),
  refersTo: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 2 }),
  refersNoMore: fc.array(fc.integer({ min: 4, max: 7 }), { maxLength: 2 }),
  tells: fc.boolean(),
});

/** Views are named after the partition that commits them. */
function besideOf(partition: number, { moves, refersTo, refersNoMore, tells }: Made): AlongsideCommit {
  const viewOf = (view: number) => ({ sourceId: 's', alias: 'page', originId: `${partition}.${view}` });
  const reported = new ReportedViews();
  const claims = moves.map(({ action, path, view, host, redirect, since }): ClaimWrite => {
    if (tells && action === 'put') reported.changed(scope, viewOf(view));
    const kind = redirect === null ? 'page' : 'redirect';
    // As in an entity's URL: the claims of two hosts are never listed under the same string.
    const display = host === null ? path : `https://${host}${path}`;
    const claim = { host, kind, sinceStamp: since, view: viewOf(view), display, redirect } as const;
    return { action, scope, field: claimField.url(path), claim, isReported: tells && action === 'put' };
  });
  const references = new ReferenceChanges();
  const target = (at: number) => referenceText(viewOf(0), { ...viewOf(0), originId: `to:${at}` });
  for (const at of refersTo) references.add(scope, viewOf(0), target(at));
  for (const at of refersNoMore) references.drop(scope, viewOf(0), target(at));
  return { claims, references, reported };
}

/** All keys except those that contain times. */
async function stateOf({ client }: Store): Promise<Map<string, unknown>> {
  const state = new Map<string, unknown>();
  for (const key of (await client.keys('*')).sort()) {
    if (/:(clock|log|traces|left|logs|log-names|leaf)(:|$)|^\{millrace\}/.test(key)) continue;
    const type = await client.type(key);
    if (type === 'hash') state.set(key, await client.hgetall(key));
    else if (type === 'set') state.set(key, (await client.smembers(key)).sort());
    else if (key.includes(':routes:')) state.set(key, await listedTexts(client, key));
    else if (type === 'zset') state.set(key, await client.zrange(key, 0, '-1', 'WITHSCORES'));
    else state.set(key, await client.xlen(key));
  }
  for (const [key, value] of state) {
    if (key.endsWith(':owner')) Object.assign(value as object, { leaseUntilMs: 0 });
  }
  return state;
}

/** Members of `log` and `traces` of all partitions, with the sequence of each. */
async function reportedFor({ store, leases }: Owned): Promise<Map<string, number>> {
  const reported = new Map<string, number>();
  for (const { tag } of leases) {
    for (const key of [keys.log(tag, 'acme', 'env'), keys.traces(tag, 'acme', 'env')]) {
      const found = await store.client.zrange(key, 0, '-1', 'WITHSCORES');
      for (let at = 0; at < found.length; at += 2) reported.set(`${key} ${found[at]}`, Number(found[at + 1]));
    }
  }
  return reported;
}

/** The views that are served, by path and host. */
async function servedViews({ store }: Owned): Promise<Map<string, string>> {
  const fields = paths.map((path) => claimField.url(path));
  const records = await readServed(store, scope, fields);
  return new Map(
    records.flatMap(({ claims }, at) =>
      claims.map(({ host, view }) => [`${fields[at]} ${host}`, view.originId] as const),
    ),
  );
}

/** Views that won or lost a path in a round, each as the suffixes of its entries. */
function wonOrLost(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[][] {
  const places = [...new Set([...before.keys(), ...now.keys()])];
  return places
    .filter((place) => before.get(place) !== now.get(place))
    .flatMap((place) => [before.get(place), now.get(place)].map((view) => ({ place, view })))
    .flatMap(({ place, view }) =>
      view === undefined ? [] : [[`:${view}`, ` f${place.slice(0, place.indexOf(' '))}`]],
    );
}

const idle: Made = { moves: [], refersTo: [], refersNoMore: [], tells: false };

/** A partition that puts a page of its first view on a path. */
function putting(path: string, since: number): Made {
  const move = { action: 'put', path, view: 0, host: null, redirect: null, since } as const;
  return { ...idle, moves: [move] };
}

/** A view loses a path in the call that gives it another one, with a claim that differs only in its path. */
const winsAndLoses = [
  [putting('/c', 1), idle, idle] as const,
  [putting('/a', 1), putting('/c', 2), putting('/a', 2)] as const,
].map((round) => [...round] as [Made, Made, Made]);

test('commit calls: commits in one call have the same effects as one by one, and report each view that won or lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(made, made, made), { minLength: 1, maxLength: 4 }), async (rounds) => {
      const [together, alone] = [await owned(0), await owned(1)];
      const send = ({ store, leases }: Owned, partition: number, one: Made, after: number) => {
        const lease = leases[partition];
        assert.ok(lease !== undefined);
        return commit(store, lease, new PartitionWrites(), announcing(), after, besideOf(partition, one));
      };
      for (const [after, round] of rounds.entries()) {
        const [reportedBefore, servedBefore] = [await reportedFor(together), await servedViews(together)];
        await Promise.all(round.map((one, partition) => send(together, partition, one, after)));
        for (const [partition, one] of round.entries()) await send(alone, partition, one, after);
        assert.deepEqual(await stateOf(together.store), await stateOf(alone.store));
        const reported = [...(await reportedFor(together))].filter(
          ([name, last]) => last !== reportedBefore.get(name),
        );
        for (const ends of wonOrLost(servedBefore, await servedViews(together))) {
          const isReported = reported.some(([name]) => ends.some((end) => name.endsWith(end)));
          assert.ok(isReported, `${ends} is not in ${reported}, before in ${[...reportedBefore]}`);
        }
      }
      await Promise.all([together.store.close(), alone.store.close()]);
    }),
    { numRuns: runs(40), examples: [[winsAndLoses]] },
  );
});
