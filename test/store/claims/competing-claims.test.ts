/** Fields with very many claims: the cost of a claim, and a comparison with a naive model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Domain } from '../../../src/config/configuration.ts';
import { normalizeUrl } from '../../../src/config/urls/url.ts';
import { claimOnUrl, servedClaim } from '../../../src/http/delivery/served-claim.ts';
import { type Claim, type ClaimWrite, claimTag } from '../../../src/store/claims/claim-records.ts';
import { countClashes, readClaimFields, readServed, writeClaims } from '../../../src/store/claims/claims.ts';
import { listRoutes } from '../../../src/store/claims/routes.ts';
import { digestOf } from '../../../src/store/codec/digest.ts';
import { claimSubject } from '../../../src/store/derived/subjects.ts';
import { claimField, keys } from '../../../src/store/keys.ts';
import type { EnvironmentScope } from '../../../src/store/scopes.ts';
import type { Store } from '../../../src/store/store.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const caller = { partition: 0, epoch: 1 };
const scope: EnvironmentScope = { tenant: 'acme', environmentId: 'env' };

interface Wish {
  /** A URL, or a handle if it begins with neither `/` nor `http`. */
  readonly text: string;
  readonly originId: string;
  readonly since: number;
  readonly redirect?: string | null;
  readonly alias?: string;
}

function write(
  action: ClaimWrite['action'],
  { text, originId, since, redirect = null, alias = 'page' }: Wish,
): ClaimWrite {
  const url = normalizeUrl(text);
  const claim: Claim = {
    host: url?.host ?? null,
    kind: redirect === null ? 'page' : 'redirect',
    sinceStamp: since,
    view: { sourceId: 's', alias, originId },
    display: text,
    redirect,
  };
  const field = url === null ? claimField.handle(text) : claimField.url(url.path);
  return { action, scope, field, claim };
}

const many = 20_000;

/** Median time that Redis spends in the scripts of a write, in microseconds. */
async function costOf(store: Store, writes: readonly ClaimWrite[]): Promise<number> {
  const costs: number[] = [];
  for (const one of writes) {
    await store.client.config('RESETSTAT');
    await writeClaims(store, caller, [one]);
    const stats = await store.client.info('commandstats');
    costs.push(Number(/cmdstat_evalsha:calls=1,usec=(\d+)/.exec(stats)?.[1]));
  }
  return costs.sort((a, b) => a - b)[costs.length >> 1] ?? Number.NaN;
}

const contests: readonly { what: string; wish(n: number): Wish; recordBytesMax: number }[] = [
  {
    what: 'one handle',
    wish: (n) => ({ text: 'news', originId: `e${n}`, since: 10 + n }),
    recordBytesMax: 100,
  },
  { what: 'one URL', wish: (n) => ({ text: '/x', originId: `e${n}`, since: 10 + n }), recordBytesMax: 100 },
  {
    what: 'one URL on as many hosts',
    wish: (n) => ({ text: `https://h${n}.example.com/x`, originId: `e${n}`, since: 10 + n }),
    recordBytesMax: 4000,
  },
  {
    what: 'redirects of one URL on as many hosts',
    wish: (n) => ({
      text: `https://h${n}.example.com/x`,
      originId: `e${n}`,
      since: 10 + n,
      redirect: '/elsewhere',
    }),
    recordBytesMax: 4000,
  },
];

/** A page that answers on every host is put and dropped. */
const everywhere: readonly ClaimWrite[] = (['put', 'drop'] as const).map((action) =>
  write(action, { text: '/x', originId: 'everywhere', since: 5 }),
);

for (const { what, wish, recordBytesMax } of contests) {
  test(`competing claims: each of ${many} claims on ${what} costs about as much as a single one`, async (context) => {
    const store = await redis.openEmptyStore(4);
    const writes = Array.from({ length: many }, (_, n) => write('put', wish(n)));
    await writeClaims(store, caller, writes);
    const { field } = write('put', wish(0));
    const others = Array.from({ length: 40 }, (_, n) => ({ text: `/only/${n}`, originId: 'o', since: 1 }));
    const alone = await costOf(
      store,
      others.map((one) => write('put', one)),
    );
    const among = {
      'the latest': Array.from({ length: 40 }, (_, n) => write('put', wish(many + n))),
      'an old one': Array.from({ length: 40 }, (_, n) =>
        write('put', { ...wish(n * 7), originId: `late${n}` }),
      ),
      'the served one that goes': Array.from({ length: 40 }, (_, n) => write('drop', wish(many + 39 - n))),
      'a page everywhere': Array.from({ length: 20 }, () => everywhere).flat(),
      'one of the others that goes': Array.from({ length: 40 }, (_, n) => write('drop', wish(n * 9))),
    };
    for (const [which, ones] of Object.entries(among)) {
      const cost = await costOf(store, ones);
      context.diagnostic(`${which}: ${cost} µs, where there is no other ${alone} µs`);
      // When all claims were one record, this took a thousand times as long: each write read, sorted and rewrote it.
      assert.ok(cost <= 25 * alone, `${which}: ${cost} µs, with a single claim ${alone} µs`);
    }
    const tag = claimTag(store, scope, field);
    const bytes = await store.client.hstrlen(keys.claims(tag, scope.tenant, scope.environmentId), field);
    assert.ok(bytes > 0 && bytes <= recordBytesMax, `readers get ${bytes} bytes`);
    const [claims = []] = await readClaimFields(store, scope, [field]);
    assert.equal(claims.length, many);
    assert.ok(claims.every((claim, at) => at === 0 || claim.sinceStamp <= (claims[at - 1]?.sinceStamp ?? 0)));
    assert.equal(await countClashes(store, scope), 1);
  });
}

test('competing claims: redirects hidden by a page on every host are not routes, and are routes again when it goes', async () => {
  const store = await redis.openEmptyStore(4);
  const hidden = 1_200;
  const redirects = Array.from({ length: hidden }, (_, n) =>
    write('put', { text: `https://h${n}.example.com/x`, originId: `e${n}`, since: n, redirect: '/y' }),
  );
  const [put, drop] = everywhere;
  assert.ok(put && drop);
  const last = write('put', { text: 'https://z.example.com/z', originId: 'z', since: 1 });
  await writeClaims(store, caller, [...redirects, last, put]);
  for (const direction of ['ascending', 'descending'] as const) {
    const page = await listRoutes(store, { ...scope, urlForms: ['exact'] }, { direction, limit: 100 });
    const urls = page.entries.map(({ url }) => url);
    assert.deepEqual(direction === 'ascending' ? urls : urls.reverse(), ['/x', 'https://z.example.com/z']);
    assert.deepEqual([page.total, page.hasMore], [2, false]);
  }
  await writeClaims(store, caller, [drop]);
  const page = await listRoutes(
    store,
    { ...scope, urlForms: ['exact'] },
    { direction: 'ascending', limit: 500 },
  );
  assert.deepEqual([page.entries.length, page.total, page.hasMore], [500, hidden + 1, true]);
});

/** More hosts than fit in one record. */
const hosts = Array.from({ length: 45 }, (_, n) => `h${n}.example.com`);
const someHosts = ['', '', '', 'a.com', 'a.com:8080', 'a.com.au', ...hosts.slice(0, 5)];
const urlOf = (host: string, path: string) => (host === '' ? path : `https://${host}${path}`);

const oneWish = fc.record({
  text: fc.oneof(
    fc.constantFrom('news', '/x', 'h\0/x'),
    fc.tuple(fc.constantFrom(...someHosts), fc.constantFrom('/x', '/x/', '/y')).map(([h, p]) => urlOf(h, p)),
  ),
  originId: fc.constantFrom('1', '2', '3', 'a\0b'),
  alias: fc.constantFrom('page', 'page', 'teaser'),
  since: fc.integer({ min: 1, max: 5 }),
  redirect: fc.constantFrom(null, null, '/target'),
});

/** Claims of one call: usually one, sometimes one on every host. */
const step = fc.record({
  action: fc.constantFrom('put' as const, 'put' as const, 'drop' as const),
  wishes: fc.oneof(
    { weight: 6, arbitrary: fc.array(oneWish, { minLength: 1, maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: oneWish.map((wish) => hosts.map((host) => ({ ...wish, text: urlOf(host, '/x') }))),
    },
  ),
});

const domain = (alias: string, ...hostnames: string[]): Domain => ({ alias, hostnames });
const clients: readonly (readonly Domain[])[] = [
  [domain('all', '*')],
  [domain('a', 'a.com'), domain('rest', '*', 'h1.example.com')],
  [domain('named', ...hosts.slice(0, 36)), domain('rest', '*')],
  [domain('some', 'h40.example.com', 'h41.example.com'), domain('other', 'h41.example.com', 'a.com')],
  [domain('none', 'unknown.example.com')],
];
const askedHosts = [null, 'a.com', 'h1.example.com', 'h40.example.com', 'h41.example.com', 'elsewhere.com'];

/** All claims, in the order in which they were put. A claim that is put again moves to the end. */
class Model {
  readonly #claims = new Map<string, ClaimWrite>();

  apply({ action, ...rest }: ClaimWrite): void {
    const { field, claim } = rest;
    const { host, kind, view } = claim;
    const identity = JSON.stringify([field, kind, host, view]);
    if (action === 'put') this.#claims.set(identity, { action, ...rest });
    else this.#claims.delete(identity);
  }

  get fields(): string[] {
    return [...new Set([...this.#claims.values()].map(({ field }) => field))];
  }

  /** Best first. */
  claims(field: string): Claim[] {
    const place = ({ kind, sinceStamp, view, host }: Claim) =>
      [kind, 1000 - sinceStamp, view.alias, view.sourceId, view.originId, host ?? ''].join(' ');
    return [...this.#claims.values()]
      .filter((write) => write.field === field)
      .map(({ claim }) => claim)
      .sort((a, b) => (place(a) < place(b) ? -1 : 1));
  }

  /** The claims that requests can see: the first of each host, but no redirect where a page answers on every host. */
  served(field: string): Claim[] {
    const claims = this.claims(field);
    const isPageEverywhere = claims.some(({ host, kind }) => host === null && kind === 'page');
    const firsts = claims.filter(({ host }, at) => claims.findIndex((other) => other.host === host) === at);
    return firsts.filter(({ kind }) => kind === 'page' || !isPageEverywhere);
  }

  get routes(): string[] {
    const urls = this.fields.filter((field) => field.startsWith('u:')).flatMap((field) => this.served(field));
    return [...new Set(urls.map(({ display }) => display))].sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
  }
}

const tag = '{p0.0}';

async function announced(store: Store): Promise<string[]> {
  const entries = await store.client.xrangeBuffer(keys.changes(store.partitions.tags[0] ?? tag), '-', '+');
  return entries.flatMap(([, [, digests = Buffer.alloc(0)]]) =>
    Array.from({ length: digests.length / 8 }, (_, at) =>
      digests.subarray(at * 8, at * 8 + 8).toString('hex'),
    ),
  );
}

async function checkField(store: Store, model: Model, field: string): Promise<void> {
  const [record] = await readServed(store, scope, [field]);
  const [all = []] = await readClaimFields(store, scope, [field]);
  assert.deepEqual(all, model.claims(field));
  const served = model.served(field);
  assert.deepEqual(record?.claims, served.slice(0, 32));
  assert.deepEqual([record.hasMore, record.isContested], [served.length > 32, all.length > 1]);
  if (!field.startsWith('u:')) return;
  const path = field.slice(2);
  for (const domains of clients) {
    for (const host of askedHosts) {
      const expected = servedClaim(model.claims(field), host, domains);
      const found = await claimOnUrl({ store, scope, url: { host, path }, domains }, [field], [record]);
      assert.deepEqual(found, expected, `${host} of ${JSON.stringify(domains)}`);
    }
  }
}

test('competing claims: after any puts and drops, what is served, listed, counted and announced equals a naive model', async () => {
  const store = await redis.openEmptyStore(1);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      await redis.flush();
      const model = new Model();
      const touched = new Set<string>();
      for (const { action, wishes } of steps) {
        const writes = wishes.map((wish) => write(action, wish));
        const fields = [...new Set(writes.map(({ field }) => field))];
        const before = fields.map((field) => JSON.stringify(model.served(field)));
        await store.client.del(keys.changes(store.partitions.tags[0] ?? tag));
        await store.client.hdel(keys.clock(store.partitions.tags[0] ?? tag), 'changes');
        await writeClaims(store, caller, writes);
        for (const one of writes) model.apply(one);
        const received = new Set(await announced(store));
        for (const [index, field] of fields.entries()) {
          const isChanged = JSON.stringify(model.served(field)) !== before[index];
          const isAnnounced = received.has(digestOf(claimSubject(scope, field)).toString('hex'));
          assert.ok(isAnnounced || !isChanged, `${field} changed and was not announced`);
          if (writes.length === 1)
            assert.equal(isAnnounced, isChanged, `${field}: announced although it did not change`);
          touched.add(field);
        }
      }
      for (const field of touched) await checkField(store, model, field);
      const { entries, total } = await listRoutes(
        store,
        { ...scope, urlForms: ['exact'] },
        { direction: 'ascending', limit: 500 },
      );
      assert.deepEqual(
        entries.map(({ url }) => url),
        model.routes,
      );
      assert.equal(total, model.routes.length);
      const contested = model.fields.filter((field) => model.claims(field).length > 1);
      assert.equal(await countClashes(store, scope), contested.length);
      const counted = await store.client.hgetall(
        keys.clashes(store.partitions.tags[0] ?? tag, 'acme', 'env'),
      );
      assert.deepEqual(
        counted,
        Object.fromEntries(contested.map((field) => [field, String(model.claims(field).length)])),
      );
      for (const field of touched) {
        await writeClaims(
          store,
          caller,
          model.claims(field).map((claim) => ({ action: 'drop', scope, field, claim })),
        );
      }
      const left = (await store.client.keys('*')).filter((key) =>
        /:(claims|ranks|routes|leaf|lengths|hidden|clashes)(:|$)/.test(key),
      );
      assert.deepEqual(left, [], 'dropped claims leave nothing in Redis');
    }),
    { numRuns: runs(80) },
  );
});
