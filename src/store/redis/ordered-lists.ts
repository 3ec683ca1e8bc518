/**
 * Reads ordered lists: texts in code-point order, which is the byte order of UTF-8. For their structure, see
 * `scripts/parts/ordered-lists.lua`. Commits and claims write them.
 */
import { compareCodePoints } from '../../lib/code-points.ts';
import { keys, tagOf } from '../keys.ts';
import type { Store } from '../store.ts';
import { answerOf } from './redis-errors.ts';
import { Script } from './script.ts';

const pageScript = new Script<Buffer[]>('redis/list-page', 2, ['ordered-lists']);
const hasScript = new Script<(0 | 1)[]>('redis/list-has', 2, ['ordered-lists']);

/** Texts per call when reading a whole list. */
const textsPerPage = 200;

export interface ListPage {
  readonly direction: 'ascending' | 'descending';
  /** Only texts after this one, which need not exist. */
  readonly after?: string | undefined;
  /** Only texts before this one, which need not exist. */
  readonly before?: string | undefined;
  /** Maximum number of texts, counted in the direction. */
  readonly limit: number;
}

/** The texts of a page, in its direction. @throws StoreUnavailableError */
export async function readListPage(store: Store, list: string, page: ListPage): Promise<Buffer[]> {
  const { direction, after = '', before, limit } = page;
  const words = [direction, after, before ?? '', limit];
  const found = await pageScript.run(store.client, keysOf(list), words);
  const [low, high] = [Buffer.from(after), before === undefined ? null : Buffer.from(before)];
  const texts = found.filter((text) => text.compare(low) > 0 && (high === null || text.compare(high) < 0));
  texts.sort(Buffer.compare);
  if (direction === 'descending') texts.reverse();
  return texts.slice(0, limit);
}

/**
 * A page of the merged lists. Each list probably has an equal share of the texts, so first a little more than its share is
 * read, then the same number again while its last text is before the end of the page. So not much more than the page is held in
 * memory, even if texts are long.
 * @throws StoreUnavailableError
 */
export async function readPageOfAll(
  store: Store,
  lists: readonly string[],
  page: ListPage,
): Promise<Buffer[]> {
  const compare = comparing(page);
  const limit = Math.min(Math.ceil((1.5 * page.limit) / lists.length) + 8, page.limit);
  let texts: Buffer[] = [];
  let open = lists.map((list) => ({ list, part: { ...page, limit } }));
  while (open.length > 0) {
    const found = await Promise.all(open.map(({ list, part }) => readListPage(store, list, part)));
    texts = [...texts, ...found.flat()].sort(compare).slice(0, page.limit);
    const last = texts[page.limit - 1];
    open = open.flatMap(({ list, part }, at) => {
      const end = found[at]?.[limit - 1];
      if (end === undefined || (last !== undefined && compare(end, last) >= 0)) return [];
      return [{ list, part: behind(part, String(end)) }];
    });
  }
  return texts;
}

/** The rest of a page after one of its strings was read. */
export function behind<Page extends Pick<ListPage, 'direction'>>(page: Page, text: string): Page {
  return { ...page, [page.direction === 'ascending' ? 'after' : 'before']: text };
}

/** The order of a page: byte order, which is code-point order. */
export function comparing({ direction }: Pick<ListPage, 'direction'>): (a: Buffer, b: Buffer) => number {
  return direction === 'ascending' ? (a, b) => a.compare(b) : (a, b) => b.compare(a);
}

/** Yields all texts in pages. Texts that exist during the whole scan are included. @throws StoreUnavailableError */
export async function* readList(store: Store, list: string): AsyncGenerator<string[]> {
  for (let after: string | undefined; ; ) {
    const page: ListPage = { direction: 'ascending', after, limit: textsPerPage };
    const texts = (await readListPage(store, list, page)).map(String);
    if (texts.length > 0) yield texts;
    if (texts.length < textsPerPage) return;
    after = texts.at(-1);
  }
}

/** In UTF-16, texts without these have the order of their bytes. */
const outOfOrder = /[\ud800-\uffff]/;

/** Sorts what comes into a list, as scripts take it: by the bytes that its texts have in Redis. */
export function sortByText<T>(things: T[], textOf: (thing: T) => string): void {
  const areInOrder = !things.some((thing) => outOfOrder.test(textOf(thing)));
  const compare = areInOrder ? compareUnits : compareBytes;
  things.sort((a, b) => compare(textOf(a), textOf(b)));
}

function compareUnits(a: string, b: string): number {
  if (a < b) return -1;
  return a === b ? 0 : 1;
}

function compareBytes(a: string, b: string): number {
  // Half of a pair is written as U+FFFD.
  return compareCodePoints(a.toWellFormed(), b.toWellFormed());
}

/** Whether each text is in a list, in the order given. @throws StoreUnavailableError */
export async function hasListed(store: Store, list: string, texts: readonly string[]): Promise<boolean[]> {
  if (texts.length === 0) return [];
  return (await hasScript.run(store.client, keysOf(list), texts)).map((has) => has === 1);
}

/** Numbers of texts in lists of one partition, in the order given. @throws StoreUnavailableError */
export async function listLengths(store: Store, tag: string, lists: readonly string[]): Promise<number[]> {
  if (lists.length === 0) return [];
  return (await answerOf(store.client.hmget(keys.lengths(tag), ...lists))).map(Number);
}

function keysOf(list: string): string[] {
  return [list, keys.never(tagOf(list))];
}
