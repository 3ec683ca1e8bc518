import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { normalizeUrl } from '../../../src/config/urls/url.ts';
import type { Claim, ClaimWrite } from '../../../src/store/claims/claim-records.ts';
import { countClashes, readClaimFields, writeClaims } from '../../../src/store/claims/claims.ts';
import { listRoutes } from '../../../src/store/claims/routes.ts';
import { digestOf } from '../../../src/store/codec/digest.ts';
import { encodeProcessed } from '../../../src/store/derived/processed-record.ts';
import { claimSubject } from '../../../src/store/derived/subjects.ts';
import { claimField, keys } from '../../../src/store/keys.ts';
import type { EnvironmentScope } from '../../../src/store/scopes.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStreamSource } from '../../../src/store/streams/shared-streams.ts';
import { StreamReader } from '../../../src/store/streams/stream.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const caller = { partition: 0, epoch: 1 };
const scope: EnvironmentScope = { tenant: 'acme', environmentId: 'env' };

interface Wish {
  readonly url: string;
  readonly originId: string;
  readonly since: number;
  readonly redirectTo?: string;
  readonly alias?: string;
}

function claimOf({ url, originId, since, redirectTo, alias = 'page' }: Wish): {
  field: string;
  claim: Claim;
} {
  const normal = normalizeUrl(url);
  assert.ok(normal !== null, url);
  const claim: Claim = {
    host: normal.host,
    kind: redirectTo === undefined ? 'page' : 'redirect',
    sinceStamp: since,
    view: { sourceId: 's', alias, originId },
    display: url,
    redirect: redirectTo ?? null,
  };
  return { field: claimField.url(normal.path), claim };
}

function put(wish: Wish): ClaimWrite {
  return { action: 'put', scope, ...claimOf(wish) };
}

function drop(wish: Wish): ClaimWrite {
  return { action: 'drop', scope, ...claimOf(wish) };
}

function putHandle(handle: string, originId: string, since: number): ClaimWrite {
  const { claim } = claimOf({ url: '/x', originId, since });
  return { action: 'put', scope, field: claimField.handle(handle), claim: { ...claim, display: handle } };
}

async function write(store: Store, ...writes: ClaimWrite[]): Promise<void> {
  await writeClaims(store, caller, writes);
}

/** Origin ids of the claims on a path, best first. */
async function onPath(store: Store, path: string): Promise<string[]> {
  const [claims = []] = await readClaimFields(store, scope, [claimField.url(path)]);
  return claims.map(({ view }) => view.originId);
}

async function urls(store: Store): Promise<string[]> {
  const page = await listRoutes(
    store,
    { ...scope, urlForms: ['exact'] },
    { direction: 'ascending', limit: 500 },
  );
  assert.equal(page.total, page.entries.length);
  return page.entries.map(({ url }) => url);
}

test('claims: the latest claim is served; when it is dropped, the previous one is served again', async () => {
  const store = await redis.openEmptyStore(4);
  const [a, b, c] = ['a', 'b', 'c'].map((originId, index) => ({ url: '/x', originId, since: index + 1 }));
  assert.ok(a && b && c);
  await write(store, put(b));
  await write(store, put(c));
  await write(store, put(a));
  assert.deepEqual(await onPath(store, '/x'), ['c', 'b', 'a'], 'by age, not in the order of writing');
  await write(store, drop(c));
  assert.deepEqual(await onPath(store, '/x'), ['b', 'a']);
  await write(store, drop(a), drop(b));
  assert.deepEqual(await onPath(store, '/x'), []);
  assert.equal(await store.client.hlen(keys.claims(store.partitions.tag(0), 'acme', 'env')), 0);
});

test('claims: a page wins over a redirect of any age', async () => {
  const store = await redis.openEmptyStore(4);
  const redirect = { url: '/x', originId: 'r', since: 9_000, redirectTo: '/y' };
  const page = { url: '/x', originId: 'p', since: 1_000 };
  await write(store, put(redirect), put(page));
  assert.deepEqual(await onPath(store, '/x'), ['p', 'r']);
  assert.deepEqual(
    (await listRoutes(store, { ...scope, urlForms: ['exact'] }, { direction: 'ascending', limit: 5 }))
      .entries,
    [{ url: '/x', redirect: null, updatedAtMs: 1 }],
  );
  await write(store, drop(page));
  assert.deepEqual(
    (await listRoutes(store, { ...scope, urlForms: ['exact'] }, { direction: 'ascending', limit: 5 }))
      .entries,
    [{ url: '/x', redirect: '/y', updatedAtMs: 9 }],
  );
});

test('claims: claims of the same age are ordered by id, so the order does not depend on the partitioning', async () => {
  const orders = [];
  for (const count of [1, 7]) {
    const store = await redis.openEmptyStore(count);
    const wishes = ['b', 'a', 'c'].map((originId) => ({ url: '/x', originId, since: 5 }));
    await write(store, ...wishes.map(put), put({ url: '/x', originId: 'a', since: 5, alias: 'about' }));
    orders.push(await onPath(store, '/x'));
  }
  assert.deepEqual(orders, [
    ['a', 'a', 'b', 'c'],
    ['a', 'a', 'b', 'c'],
  ]);
});

test('claims: writing the same claims twice is idempotent', async () => {
  const store = await redis.openEmptyStore(4);
  const writes = [put({ url: '/x', originId: 'a', since: 1 }), put({ url: '/x', originId: 'b', since: 2 })];
  await write(store, ...writes);
  const place = Number(await changesEnd(store));
  await write(store, ...writes, ...writes);
  assert.deepEqual(await onPath(store, '/x'), ['b', 'a']);
  assert.equal(await changesEnd(store), place, 'the second write announces nothing');
  await write(
    store,
    drop({ url: '/x', originId: 'b', since: 2 }),
    drop({ url: '/x', originId: 'b', since: 2 }),
  );
  assert.deepEqual(await onPath(store, '/x'), ['a']);
});

async function changesEnd(store: Store): Promise<number> {
  const ends = await Promise.all(
    store.partitions.tags.map(async (tag) =>
      Number((await store.client.hget(keys.clock(tag), 'changes')) ?? 0),
    ),
  );
  return ends.reduce((sum, end) => sum + end, 0);
}

test('claims: a change is announced by the digest of its URL or handle', async () => {
  const store = await redis.openEmptyStore(1);
  const source = openStreamSource(store);
  const reader = new StreamReader(source, keys.changes(store.partitions.tag(0)), 0);
  await write(store, put({ url: '/x', originId: 'a', since: 1 }), putHandle('news', 'a', 1));
  const [entry] = await reader.next(10, 20);
  const subjects = [claimField.url('/x'), claimField.handle('news')].map((field) =>
    claimSubject(scope, field),
  );
  assert.equal(
    entry?.fields.get('d')?.toString('hex'),
    Buffer.concat(subjects.map(digestOf)).toString('hex'),
  );
  await write(store, { ...putHandle('news', 'a', 1), action: 'drop' });
  const [next] = await reader.next(10, 20);
  assert.equal(next?.fields.get('d')?.toString('hex'), digestOf(subjects[1] ?? '').toString('hex'));
  source.close();
});

test('claims: the time of a route is that of the last processed state of its entity', async () => {
  const store = await redis.openEmptyStore(4);
  await write(store, put({ url: '/x', originId: 'a', since: 1_000 }));
  const times = async () => {
    const { entries } = await listRoutes(
      store,
      { ...scope, urlForms: ['exact'] },
      { direction: 'ascending', limit: 5 },
    );
    return entries.map(({ updatedAtMs }) => updatedAtMs);
  };
  assert.deepEqual(await times(), [1], 'nothing was processed: the time of the claim');
  const tag = store.partitions.tag(store.partitions.ofEntity('s', 'a'));
  const processed = encodeProcessed({ stamp: 99_999, type: 't', lookups: [], outputs: [] });
  await store.client.hset(keys.processed(tag, 'acme', 's'), 'a', processed);
  assert.deepEqual(await times(), [99]);
});

test('claims: handles are claimed like URLs, and are not routes', async () => {
  const store = await redis.openEmptyStore(4);
  await write(store, putHandle('news', 'a', 1), putHandle('news', 'b', 2), putHandle('/x', 'c', 3));
  const handles = ['news', '/x', 'none'].map(claimField.handle);
  const claims = await readClaimFields(store, scope, [...handles, claimField.url('/x')]);
  assert.deepEqual(
    claims.map((ofField) => ofField.map(({ view }) => view.originId)),
    [['b', 'a'], ['c'], [], []],
  );
  assert.deepEqual(await urls(store), []);
});

test('claims: the URLs of an environment or tenant do not affect another one', async () => {
  const store = await redis.openEmptyStore(4);
  await write(store, put({ url: '/x', originId: 'a', since: 1 }));
  for (const other of [
    { tenant: 'acme', environmentId: 'other' },
    { tenant: 'other', environmentId: 'env' },
  ]) {
    assert.deepEqual(await readClaimFields(store, other, [claimField.url('/x')]), [[]]);
    assert.equal(
      (await listRoutes(store, { ...other, urlForms: ['exact'] }, { direction: 'ascending', limit: 5 }))
        .total,
      0,
    );
  }
});

test('claims: a path can be claimed for several hosts, and each host has its own route', async () => {
  const store = await redis.openEmptyStore(4);
  const a = { url: 'https://a.com/x', originId: 'a', since: 1 };
  const b = { url: 'https://b.com/x/', originId: 'b', since: 2 };
  const everywhere = { url: '/x', originId: 'c', since: 3 };
  await write(store, put(a), put(b), put(everywhere));
  assert.deepEqual(await urls(store), ['/x', 'https://a.com/x', 'https://b.com/x/']);
  await write(store, drop(everywhere), drop(a));
  assert.deepEqual(await urls(store), ['https://b.com/x/']);
});

test('claims: redirects of one entity from the same path on two hosts are two claims', async () => {
  const store = await redis.openEmptyStore(4);
  const a = { url: 'https://a.com/old', originId: 'p', since: 1, redirectTo: '/new' };
  const b = { ...a, url: 'https://b.com/old' };
  await write(store, put(a), put(b));
  assert.deepEqual(await urls(store), ['https://a.com/old', 'https://b.com/old']);
  await write(store, drop(a));
  assert.deepEqual(await urls(store), ['https://b.com/old']);
});

test('claims: a redirect is not a route where a page answers on every host', async () => {
  const store = await redis.openEmptyStore(4);
  await write(store, put({ url: 'https://a.com/x', originId: 'r', since: 2, redirectTo: '/y' }));
  assert.deepEqual(await urls(store), ['https://a.com/x']);
  await write(store, put({ url: '/x', originId: 'p', since: 1 }));
  assert.deepEqual(await urls(store), ['/x']);
});

test('claims: conflicts are counted while they last', async () => {
  const store = await redis.openEmptyStore(4);
  const [a, b] = [
    { url: '/x', originId: 'a', since: 1 },
    { url: '/x', originId: 'b', since: 1 },
  ];
  await write(store, put(a), put({ url: '/y', originId: 'a', since: 1 }));
  assert.equal(await countClashes(store, scope), 0);
  await write(store, put(b));
  assert.equal(await countClashes(store, scope), 1);
  await write(store, drop(a));
  assert.equal(await countClashes(store, scope), 0);
});

test('claims: routes are listed by URL in code-point order, in both directions, astral characters last', async () => {
  const store = await redis.openEmptyStore(5);
  const sorted = [
    '/',
    '/A',
    '/a',
    '/a-b',
    '/a/b',
    '/b',
    '/z',
    '/é',
    '/ﬀ',
    '/\u{10000}',
    '/\u{1F600}',
    'https://a.com/',
  ];
  const shuffled = [...sorted].reverse();
  await write(store, ...shuffled.map((url, index) => put({ url, originId: `o${index}`, since: 1 })));
  assert.deepEqual(await urls(store), sorted);
  const down = await listRoutes(
    store,
    { ...scope, urlForms: ['exact'] },
    { direction: 'descending', limit: 4 },
  );
  assert.deepEqual(
    down.entries.map(({ url }) => url),
    [...sorted].reverse().slice(0, 4),
  );
  assert.deepEqual([down.hasMore, down.total], [true, sorted.length]);
  const rest = await listRoutes(
    store,
    { ...scope, urlForms: ['exact'] },
    {
      direction: 'ascending',
      after: '/z',
      before: '/\u{1F600}',
      limit: 9,
    },
  );
  assert.deepEqual(
    rest.entries.map(({ url }) => url),
    ['/é', '/ﬀ', '/\u{10000}'],
  );
  assert.equal(rest.hasMore, false);
});

const wishes = fc
  .record({
    path: fc.constantFrom('/a', '/a/', '/A', '/b', '/b?x=1', '/c/é', '/c/%C3%A9'),
    host: fc.constantFrom('', '', 'https://a.com', 'http://B.com'),
    originId: fc.constantFrom('1', '2', '3'),
    since: fc.integer({ min: 1, max: 4 }),
    redirectTo: fc.constantFrom(undefined, undefined, '/target'),
  })
  .map(({ path, host, originId, since, redirectTo }) => ({
    url: `${host}${path}`,
    originId,
    since,
    ...(redirectTo === undefined ? {} : { redirectTo }),
  }));

/** Every claim as a string that sorts in serving order: a second implementation that shares nothing with the script. */
function modelOrder({ claim }: ClaimWrite): string {
  const age = String(1_000_000 - claim.sinceStamp).padStart(9, '0');
  return `${claim.kind === 'page' ? 0 : 1} ${age} ${claim.view.originId} ${claim.host ?? ''}`;
}

function modelRoutes(claims: readonly ClaimWrite[]): string[] {
  const routes = new Set<string>();
  for (const path of new Set(claims.map(({ field }) => field))) {
    const here = claims
      .filter(({ field }) => field === path)
      .sort((a, b) => (modelOrder(a) < modelOrder(b) ? -1 : 1));
    for (const host of new Set(here.map(({ claim }) => claim.host))) {
      // What a request to this host gets: pages of this host first, then pages for all hosts, then redirects.
      const mine = here.filter(({ claim }) => claim.host === host);
      const isPage = mine[0]?.claim.kind === 'page';
      const pageEverywhere = here.some(({ claim }) => claim.host === null && claim.kind === 'page');
      if (isPage || !pageEverywhere) routes.add(mine[0]?.claim.display ?? '');
    }
  }
  return [...routes].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

test('claims: after any puts and drops, claims and routes equal those of a naive model', async () => {
  const store = await redis.openEmptyStore(1);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), wishes), { maxLength: 25 }), async (steps) => {
      await redis.flush();
      const model = new Map<string, ClaimWrite>();
      for (const [isPut, wish] of steps) {
        const step = isPut ? put(wish) : drop(wish);
        await write(store, step);
        const { field, claim } = step;
        const identity = [field, claim.kind, claim.host, claim.view.originId].join(' ');
        if (isPut) model.set(identity, step);
        else model.delete(identity);
      }
      const all = [...model.values()];
      for (const path of ['/a', '/A', '/b', '/c/%C3%A9']) {
        const [claims] = await readClaimFields(store, scope, [claimField.url(path)]);
        const expected = all
          .filter(({ field }) => field === claimField.url(path))
          .sort((a, b) => (modelOrder(a) < modelOrder(b) ? -1 : 1));
        assert.deepEqual(
          claims,
          expected.map(({ claim }) => claim),
        );
      }
      assert.deepEqual(await urls(store), modelRoutes(all));
    }),
    { numRuns: runs(60) },
  );
});

test('claims: paging while routes come and go neither skips nor repeats a route that stayed, in both directions', async () => {
  const store = await redis.openEmptyStore(4);
  const stays = Array.from({ length: 60 }, (_, index) => `/stay/${String(index).padStart(3, '0')}`);
  await write(store, ...stays.map((url) => put({ url, originId: url, since: 1 })));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('ascending' as const, 'descending' as const),
      fc.integer({ min: 1, max: 25 }),
      fc.infiniteStream(fc.tuple(fc.boolean(), fc.nat(59), fc.nat(9))),
      async (direction, limit, churn) => {
        const seen: string[] = [];
        let last: string | undefined;
        for (;;) {
          const place =
            last === undefined ? {} : direction === 'ascending' ? { after: last } : { before: last };
          const page = await listRoutes(
            store,
            { ...scope, urlForms: ['exact'] },
            { direction, limit, ...place },
          );
          seen.push(...page.entries.map(({ url }) => url));
          last = page.entries.at(-1)?.url;
          if (!page.hasMore) break;
          for (const [isPut, at, variant] of churn.take(5)) {
            const wish = {
              url: `/stay/${String(at).padStart(3, '0')}x${variant}`,
              originId: 'churn',
              since: 2,
            };
            await write(store, isPut ? put(wish) : drop(wish));
          }
        }
        const stayed = seen.filter((url) => /^\/stay\/\d+$/.test(url));
        assert.deepEqual(stayed, direction === 'ascending' ? stays : [...stays].reverse());
        assert.equal(new Set(seen).size, seen.length, 'no duplicates');
      },
    ),
    { numRuns: runs(15) },
  );
});
