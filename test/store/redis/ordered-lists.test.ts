/** Ordered lists compared with a naive set of strings, on a real Redis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { urlCodePointsMax } from '../../../src/contract/limits.ts';
import { keys } from '../../../src/store/keys.ts';
import { type TakenLease, takeLease } from '../../../src/store/ownership/lease.ts';
import { commit, type ListChange, PartitionWrites } from '../../../src/store/partitions/commit.ts';
import {
  hasListed,
  type ListPage,
  listLengths,
  readList,
  readListPage,
  sortByText,
} from '../../../src/store/redis/ordered-lists.ts';
import type { Store } from '../../../src/store/store.ts';
import { inOrder, leavesOf } from '../../support/ordered-lists.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';

const redis = await TestRedis.start();
const announcement = { checkpoint: 0, pendingRebuilds: new Map(), downstream: [], digests: Buffer.alloc(0) };
/** The values in `scripts/parts/ordered-lists.lua`. */
const leafMax = 128;
const smallLeaf = 32;
const longText = 512;

interface Owned {
  readonly store: Store;
  readonly lease: TakenLease;
}

async function owned(): Promise<Owned> {
  const store = await redis.openEmptyStore(1);
  const lease = await takeLease(store, 0, 'worker', 60_000);
  assert.ok(lease !== null);
  return { store, lease };
}

interface Step {
  readonly change: ListChange;
  readonly texts: readonly string[];
}

async function write({ store, lease }: Owned, list: string, { change, texts }: Step): Promise<void> {
  const writes = new PartitionWrites();
  for (const text of texts) writes.list(list, text, change);
  await commit(store, lease, writes, announcement);
}

/** Strings that are prefixes of each other, numbers, letters of all lengths in UTF-8, high bytes, and very long strings. */
const kindsOfTexts: readonly ((number: number) => string)[] = [
  (number) => `/p/${number}`,
  (number) => `/p/${'a'.repeat(number % 97)}${number % 3}`,
  (number) => String(number),
  (number) => `0${number}`,
  (number) => `é${number}`,
  (number) => `${number}\u{1F600}`,
  (number) => `\u{1F600}${number}`,
  (number) => `\uFFFD${number}`,
  (number) => `\0${number}`,
  (number) => `[${number}`,
  (number) => `/${'\u{10FFFF}'.repeat(urlCodePointsMax - 5)}${number}`,
];

function textOf(number: number): string {
  return kindsOfTexts[number % kindsOfTexts.length]?.(number) ?? '';
}

const textsMax = 1200;
const someText = fc.nat(textsMax).map(textOf);

/** Many strings, spread over the list or next to each other. */
const step: fc.Arbitrary<Step> = fc.record({
  change: fc.constantFrom('new', 'kept', 'removed'),
  texts: fc
    .record({
      from: fc.nat(textsMax),
      count: fc.oneof(fc.nat(3), fc.nat(400)),
      by: fc.constantFrom(1, 7, kindsOfTexts.length),
    })
    .map(({ from, count, by }) =>
      Array.from({ length: count }, (_, at) => textOf((from + at * by) % textsMax)),
    ),
});

const page: fc.Arbitrary<ListPage> = fc.record({
  direction: fc.constantFrom('ascending', 'descending'),
  after: fc.option(someText, { nil: undefined }),
  before: fc.option(someText, { nil: undefined }),
  limit: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: textsMax })),
});

function naivePage(ordered: readonly string[], { direction, after, before, limit }: ListPage): string[] {
  const isBefore = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
  const found = ordered.filter(
    (text) =>
      (after === undefined || isBefore(after, text)) && (before === undefined || isBefore(text, before)),
  );
  return (direction === 'ascending' ? found : found.reverse()).slice(0, limit);
}

function isLong(text: string): boolean {
  return Buffer.byteLength(text) > longText;
}

/** The invariants of leaves in `scripts/parts/ordered-lists.lua`. */
async function checkLeaves({ store }: Owned, list: string, ordered: readonly string[]): Promise<void> {
  const leaves = await leavesOf(store.client, list);
  const sizes = [...leaves.values()].map(({ length }) => length);
  assert.deepEqual([...leaves.values()].flatMap(inOrder), ordered, 'each string is in the leaf of its bound');
  assert.ok(Math.max(0, ...sizes) <= leafMax && !sizes.includes(0), `sizes of leaves: ${sizes}`);
  const longs = [...leaves.values()].map((texts) => texts.filter(isLong).length);
  assert.ok(Math.max(0, ...longs) <= 1, 'a leaf has at most one long string');
  assert.equal((await store.client.keys('*:leaf:*')).length, leaves.size, 'no leaf is lost');
}

/** Only for lists without a long string, because a long string splits a leaf at any position. */
async function checkSizes({ store }: Owned, list: string): Promise<void> {
  const sizes = [...(await leavesOf(store.client, list)).values()].map(({ length }) => length);
  const small = sizes.filter((size, at) => size <= smallLeaf && (sizes[at + 1] ?? leafMax) <= smallLeaf);
  assert.deepEqual(small, [], `no two small leaves are neighbours: ${sizes}`);
}

async function readAll(store: Store, list: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const portion of readList(store, list)) texts.push(...portion);
  return texts;
}

test('ordered lists: texts that come together are sorted by their bytes, whatever their letters', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    'é',
    '\ud7ff',
    '\ue000',
    '\ufffd',
    '\uffff',
    '\u{1F600}',
    '\ud800',
    '\udc00',
  );
  fc.assert(
    fc.property(fc.array(fc.array(unit, { maxLength: 4 }), { maxLength: 20 }), (lists) => {
      const texts = lists.map((units) => units.join(''));
      const expected = texts.map((text) => Buffer.from(text)).sort(Buffer.compare);
      sortByText(texts, (text) => text);
      assert.deepEqual(
        texts.map((text) => Buffer.from(text)),
        expected,
      );
    }),
  );
});

test('ordered lists: a list has the same members, order and length as a naive set', async (context) => {
  const all = await owned();
  const { store, lease } = all;
  const list = keys.directory(lease.tag, 'acme', 'src', 'page');
  let leavesMax = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.array(page),
      async (steps, pages) => {
        const naive = new Set<string>();
        let hadLong = false;
        for (const { change, texts } of steps) {
          const asked = change === 'new' ? new Set(texts.filter((text) => !naive.has(text))) : texts;
          await write(all, list, { change, texts: [...asked] });
          for (const text of asked) change === 'removed' ? naive.delete(text) : naive.add(text);
          const ordered = inOrder([...naive]);
          await checkLeaves(all, list, ordered);
          hadLong ||= [...asked].some(isLong);
          if (!hadLong) await checkSizes(all, list);
          assert.deepEqual(await listLengths(store, lease.tag, [list]), [naive.size]);
          leavesMax = Math.max(leavesMax, await store.client.zcard(list));
        }
        const ordered = inOrder([...naive]);
        for (const asked of pages) {
          const found = await readListPage(store, list, asked);
          assert.deepEqual(found.map(String), naivePage(ordered, asked), JSON.stringify(asked).slice(0, 200));
        }
        assert.deepEqual(await readAll(store, list), ordered);
        const asked = Array.from({ length: 40 }, (_, at) => textOf(at * 29));
        assert.deepEqual(
          await hasListed(store, list, asked),
          asked.map((text) => naive.has(text)),
        );
        await write(all, list, { change: 'removed', texts: ordered });
        assert.deepEqual(await store.client.keys('*:acme:*'), [], 'an empty list leaves nothing in Redis');
        assert.equal(await store.client.exists(keys.lengths(lease.tag)), 0);
      },
    ),
    { numRuns: runs(30) },
  );
  context.diagnostic(`up to ${leavesMax} leaves`);
  assert.ok(leavesMax > 5, 'lists were long enough to be split');
});

test('ordered lists: a list that shrinks one string at a time keeps no series of nearly empty leaves', async () => {
  const all = await owned();
  const list = keys.directory(all.lease.tag, 'acme', 'src', 'page');
  const texts = Array.from({ length: 1000 }, (_, number) => `/p/${(number * 7919) % 1000}`);
  await write(all, list, { change: 'new', texts });
  for (let left = texts; left.length > 0; left = left.slice(10)) {
    await checkLeaves(all, list, inOrder(left));
    await checkSizes(all, list);
    await write(all, list, { change: 'removed', texts: left.slice(0, 10) });
  }
});

test('ordered lists: long strings are never read together, in whatever order they were added', async () => {
  for (const direction of ['up', 'down', 'mixed'] as const) {
    const all = await owned();
    const list = keys.directory(all.lease.tag, 'acme', 'src', 'page');
    const number = (at: number) => ({ up: at, down: 999 - at, mixed: (at * 7919) % 1000 })[direction];
    const texts = Array.from({ length: 300 }, (_, at) => {
      const name = String(number(at)).padStart(4, '0');
      return at % 3 === 0 ? name : `${name}${'x'.repeat(16_000)}`;
    });
    await write(all, list, { change: 'new', texts });
    await checkLeaves(all, list, inOrder(texts));
    const before = await bytesSent(all.store);
    await readListPage(all.store, list, { direction: 'ascending', after: '0005', limit: 5 });
    const bytes = (await bytesSent(all.store)) - before;
    assert.ok(bytes < (5 + 3) * 17_000, `${direction}: ${bytes} bytes`);
    await write(all, list, { change: 'removed', texts });
    assert.deepEqual(await all.store.client.keys('*:acme:*'), []);
  }
});

test('ordered lists: leaves that begin with long strings are deleted with them', async () => {
  for (const direction of ['up', 'down', 'mixed'] as const) {
    const all = await owned();
    const list = keys.directory(all.lease.tag, 'acme', 'src', 'page');
    const numbers = Array.from(
      { length: 600 },
      (_, at) => ({ up: at, down: 599 - at, mixed: (at * 7919) % 600 })[direction],
    );
    const short = numbers.map((number) => `/p/${String(number).padStart(3, '0')}`);
    const long = short.map((text) => `${text}/${'x'.repeat(16_000)}`);
    await write(all, list, { change: 'new', texts: [...short, ...long] });
    assert.ok((await leavesOf(all.store.client, list)).size >= long.length);
    await write(all, list, { change: 'removed', texts: long });
    await checkLeaves(all, list, inOrder(short));
    const leaves = await leavesOf(all.store.client, list);
    assert.ok(leaves.size <= (3 * short.length) / leafMax, `${direction}: ${leaves.size} leaves`);
    // One long string after another, each removed before the next is added.
    for (const text of long) {
      await write(all, list, { change: 'new', texts: [text] });
      await write(all, list, { change: 'removed', texts: [text] });
    }
    await checkLeaves(all, list, inOrder(short));
    assert.equal((await leavesOf(all.store.client, list)).size, leaves.size, direction);
  }
});

test('ordered lists: lists with a common name prefix, and strings that continue like a name, share no leaf', async () => {
  const all = await owned();
  const whole = 'a:b:c';
  const lists = ['a', 'a:b', 'a:b:c'].map((type) => ({
    list: keys.directory(all.lease.tag, 'acme', 'src', type),
    // After the name of its list, one string of each list is the same.
    texts: Array.from({ length: 300 }, (_, number) => `${whole.slice(type.length)}:${number}`),
  }));
  for (const { list, texts } of lists) await write(all, list, { change: 'new', texts });
  for (const { list, texts } of lists) assert.deepEqual(await readAll(all.store, list), inOrder(texts));
});

test('ordered lists: a page reads no more than its strings and two leaves', async () => {
  const { store, lease } = await owned();
  const list = keys.directory(lease.tag, 'acme', 'src', 'page');
  const texts = Array.from({ length: 3000 }, (_, number) => String(number));
  await write({ store, lease }, list, { change: 'new', texts });
  const before = await bytesSent(store);
  for (let at = 0; at < 20; at += 1) {
    await readListPage(store, list, { direction: 'descending', before: String(at * 100), limit: 10 });
  }
  const bytesOfText = '$4\r\n1234\r\n'.length;
  const bytes = (await bytesSent(store)) - before;
  assert.ok(bytes < 20 * (10 + 2 * leafMax) * bytesOfText + 20_000, `${bytes} bytes`);
});

async function bytesSent({ client }: Store): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
}
