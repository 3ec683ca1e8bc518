import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LoggedView } from '../../../src/store/change-log/logged-views.ts';
import {
  ReferenceChanges,
  readReferences,
  readReferrers,
  referenceText,
  referrersKey,
  viewOfReference,
  writeReferences,
} from '../../../src/store/change-log/references.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const caller = { partition: 0, epoch: 1 };
const scope = { tenant: 'acme', environmentId: 'env' };

function view(alias: string, number: number): LoggedView {
  return { sourceId: 'cms', alias, originId: `${alias}:${number}` };
}

/** As in a cluster: references are added before a commit, and dropped after it. */
async function write(store: Store, action: 'add' | 'drop', target: LoggedView, referrers: LoggedView[]) {
  const changes = new ReferenceChanges();
  for (const referrer of referrers) changes[action](scope, referrer, referenceText(referrer, target));
  await writeReferences(store, caller, action === 'add' ? changes.additions : changes.removals);
}

async function referrersOf(store: Store, target: LoggedView): Promise<string[]> {
  const found = new Set<string>();
  for await (const views of readReferrers(store, scope, target)) {
    for (const { originId } of views) found.add(originId);
  }
  return [...found].sort();
}

function originIds(views: readonly LoggedView[]): string[] {
  return views.map(({ originId }) => originId).sort();
}

test('references: a view is restored from its reference, in its own source and in another one', () => {
  const id = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
  fc.assert(
    fc.property(id, id, id, fc.string(), (ownSource, sourceId, alias, originId) => {
      for (const source of [ownSource, sourceId]) {
        const target = { sourceId: source, alias, originId };
        assert.deepEqual(
          viewOfReference({ sourceId: ownSource }, referenceText({ sourceId: ownSource }, target)),
          target,
        );
      }
    }),
    { numRuns: runs(200) },
  );
});

test('references: referrers are found until they are dropped, however many a view has', async () => {
  const store = await redis.openEmptyStore(2);
  for (const count of [1, 100, 600, 2500]) {
    const target = view('card', count);
    const referrers = Array.from({ length: count }, (_, number) => view('page', number));
    await write(store, 'add', target, referrers);
    await write(store, 'add', target, referrers.slice(0, 3));
    assert.deepEqual(await referrersOf(store, target), originIds(referrers));
    await write(store, 'drop', target, referrers.slice(0, count / 2));
    assert.deepEqual(await referrersOf(store, target), originIds(referrers.slice(count / 2)));
    await write(store, 'drop', target, referrers);
    assert.deepEqual(await referrersOf(store, target), []);
    assert.equal(
      await store.client.exists(referrersKey(store, scope, target)),
      0,
      'the key is deleted with the last referrer',
    );
  }
});

test('references: references to many views are read in portions, each exactly once', async () => {
  const store = await redis.openEmptyStore(2);
  const targets = Array.from({ length: 700 }, (_, number) => view('card', number));
  const expected: string[] = [];
  for (const [at, target] of targets.entries()) {
    const count = at === 300 ? 1500 : at % 3;
    const referrers = Array.from({ length: count }, (_, number) => view('page', number));
    await write(store, 'add', target, referrers);
    expected.push(...referrers.map(({ originId }) => `${originId} ${target.originId}`));
  }
  const found = new Set<string>();
  for await (const references of readReferences(store, scope, targets)) {
    for (const { referrer, target } of references) found.add(`${referrer.originId} ${target.originId}`);
  }
  assert.deepEqual([...found].sort(), expected.sort());
});

test('references: the few referrers of a typical view are stored in one block of memory', async () => {
  const store = await redis.openEmptyStore(2);
  const target = view('card', 1);
  await write(
    store,
    'add',
    target,
    Array.from({ length: 100 }, (_, number) => view('page', number)),
  );
  const encoding = await store.client.object('ENCODING', referrersKey(store, scope, target));
  assert.match(String(encoding), /^(listpack|ziplist)$/);
});
