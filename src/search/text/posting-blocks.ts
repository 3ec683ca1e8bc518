import { assert } from '../../lib/assert.ts';
import { int32, type PartReader, type Parts } from '../snapshot/parts.ts';

/** Size of a full page, as a power of two. */
const pageBits = 16;
const pageInts = 1 << pageBits;
const firstPageInts = 64;
/** The address of a block must fit into 31 bits. */
const pagesMax = 1 << (31 - pageBits);

/**
 * Memory for lists of numbers, in blocks whose sizes are powers of two. Pages are never copied, so that a large index grows
 * without pauses. Only the first page is, while it is small, because most indexes are. A block larger than a page has its own.
 */
export class PostingBlocks {
  readonly #pages: Int32Array[] = [new Int32Array(firstPageInts)];
  /** The page from which blocks are allocated, and how much of it is used. */
  #open = 0;
  #used = 0;
  /** Freed blocks, by the logarithm of their size. */
  readonly #free: number[][] = [];

  get bytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.byteLength, 0);
  }

  *parts(): Parts {
    yield Int32Array.of(this.#open, this.#used, this.#pages.length, this.#free.length);
    yield* this.#pages;
    for (const blocks of this.#free) yield Int32Array.from(blocks ?? []);
  }

  async restore(from: PartReader): Promise<void> {
    const [open = 0, used = 0, pageCount = 0, freeCount = 0] = await from.numbers(int32);
    [this.#open, this.#used] = [open, used];
    for (let page = 0; page < pageCount; page += 1) this.#pages[page] = await from.numbers(int32);
    for (let size = 0; size < freeCount; size += 1) this.#free[size] = Array.from(await from.numbers(int32));
  }

  /** The page of a block. Do not keep it, because `take` may replace the first page. */
  pageOf(block: number): Int32Array {
    const page = this.#pages[block >>> pageBits];
    assert(page !== undefined, 'a block that was taken');
    return page;
  }

  /** Start of a block in its page. */
  static startOf(block: number): number {
    return block & (pageInts - 1);
  }

  /** Allocates a block of a size that is a power of two. Its contents are undefined. */
  take(ints: number): number {
    const known = this.#free[31 - Math.clz32(ints)]?.pop();
    if (known !== undefined) return known;
    if (ints > pageInts) return this.#addPage(ints) << pageBits;
    this.#makeRoom(ints);
    const block = (this.#open << pageBits) | this.#used;
    this.#used += ints;
    return block;
  }

  give(block: number, ints: number): void {
    const size = 31 - Math.clz32(ints);
    this.#free[size] ??= [];
    this.#free[size]?.push(block);
  }

  #makeRoom(ints: number): void {
    const page = this.pageOf(this.#open << pageBits);
    if (this.#used + ints <= page.length) return;
    if (page.length < pageInts) {
      const larger = new Int32Array(Math.min(pageInts, Math.max(page.length * 2, ints * 2)));
      larger.set(page);
      this.#pages[this.#open] = larger;
      this.#makeRoom(ints);
      return;
    }
    this.#open = this.#addPage(pageInts);
    this.#used = 0;
  }

  #addPage(ints: number): number {
    assert(this.#pages.length < pagesMax, 'a place of a block fits into 31 bits');
    return this.#pages.push(new Int32Array(ints)) - 1;
  }
}
