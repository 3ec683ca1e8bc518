import { int32, type PartReader, type Parts } from '../snapshot/parts.ts';
import { PostingBlocks } from './posting-blocks.ts';

/** Docs of a term, for a loop: those at `from` and behind, before `end`. */
export interface DocRun {
  docs: Int32Array;
  from: number;
  end: number;
}

const capacityMin = 16;
const none = -1;

/**
 * Knows which docs have a term: a list of doc ids for each place of a term dictionary, in typed arrays. Why it is not
 * FlexSearch's index is told in docs/design/search.md. Dead docs stay in the lists, and a sweep filters whole lists when
 * enough docs are dead.
 *
 * Most terms have one doc, so a term without a second one takes 4 bytes. The others have a block: their number of docs, then
 * these. How large the block is follows from that number.
 */
export class Postings {
  /** By place: `none`, the only doc, or -2 less the block. */
  #heads = new Int32Array(capacityMin).fill(none);
  readonly #blocks = new PostingBlocks();

  get bytes(): number {
    return this.#heads.byteLength + this.#blocks.bytes;
  }

  *parts(): Parts {
    yield this.#heads;
    yield* this.#blocks.parts();
  }

  async restore(from: PartReader): Promise<void> {
    this.#heads = await from.numbers(int32);
    await this.#blocks.restore(from);
  }

  /** The doc must not be in the list of the place. */
  add(place: number, doc: number): void {
    if (place >= this.#heads.length) this.#reserve(place + 1);
    const head = this.#heads[place] ?? none;
    if (head === none) this.#heads[place] = doc;
    else if (head >= 0) this.#write(place, [head, doc]);
    else this.#append(place, blockOf(head), doc);
  }

  /**
   * Lets `run` show the docs of a place, dead ones included, in no certain order. It is the memory itself, which `add` and
   * `keep` change, and must neither be changed nor kept.
   */
  show(place: number, run: DocRun): void {
    const head = this.#heads[place] ?? none;
    if (head >= none) {
      run.docs = this.#heads;
      run.from = place;
      run.end = head === none ? place : place + 1;
      return;
    }
    const block = blockOf(head);
    run.docs = this.#blocks.pageOf(block);
    run.from = PostingBlocks.startOf(block) + 1;
    run.end = run.from + (run.docs[run.from - 1] ?? 0);
  }

  /** Keeps the docs of a place that pass. @returns numbers of docs before and after */
  keep(place: number, passes: (doc: number) => boolean): { before: number; after: number } {
    const run: DocRun = { docs: this.#heads, from: 0, end: 0 };
    this.show(place, run);
    const before = run.end - run.from;
    const kept: number[] = [];
    for (let at = run.from; at < run.end; at += 1) {
      const doc = run.docs[at] ?? 0;
      if (passes(doc)) kept.push(doc);
    }
    if (kept.length < before) {
      this.#clear(place);
      this.#write(place, kept);
    }
    return { before, after: kept.length };
  }

  /** Gives the places that are named the places 0, 1, 2… The others must have no docs. */
  renumber(places: readonly number[]): void {
    const heads = new Int32Array(Math.max(capacityMin, places.length)).fill(none);
    for (const [to, from] of places.entries()) heads[to] = this.#heads[from] ?? none;
    this.#heads = heads;
  }

  #append(place: number, block: number, doc: number): void {
    const page = this.#blocks.pageOf(block);
    const start = PostingBlocks.startOf(block);
    const count = page[start] ?? 0;
    if (count + 1 < blockInts(count)) {
      page[start] = count + 1;
      page[start + count + 1] = doc;
      return;
    }
    const larger = this.#blocks.take(blockInts(count + 1));
    const to = this.#blocks.pageOf(larger);
    const toStart = PostingBlocks.startOf(larger);
    // A block never moves, but the first page may have been replaced.
    const from = this.#blocks.pageOf(block);
    to.set(from.subarray(start + 1, start + 1 + count), toStart + 1);
    to[toStart] = count + 1;
    to[toStart + count + 1] = doc;
    this.#blocks.give(block, blockInts(count));
    this.#heads[place] = headOf(larger);
  }

  /** Writes the list of a place that has none. */
  #write(place: number, docs: readonly number[]): void {
    const [only = none] = docs;
    if (docs.length < 2) {
      this.#heads[place] = only;
      return;
    }
    const block = this.#blocks.take(blockInts(docs.length));
    const page = this.#blocks.pageOf(block);
    const start = PostingBlocks.startOf(block);
    page[start] = docs.length;
    page.set(docs, start + 1);
    this.#heads[place] = headOf(block);
  }

  #clear(place: number): void {
    const head = this.#heads[place] ?? none;
    if (head < none) {
      const block = blockOf(head);
      const count = this.#blocks.pageOf(block)[PostingBlocks.startOf(block)] ?? 0;
      this.#blocks.give(block, blockInts(count));
    }
    this.#heads[place] = none;
  }

  #reserve(places: number): void {
    const heads = new Int32Array(Math.max(places, this.#heads.length * 2)).fill(none, this.#heads.length);
    heads.set(this.#heads);
    this.#heads = heads;
  }
}

function blockOf(head: number): number {
  return -2 - head;
}

function headOf(block: number): number {
  return -2 - block;
}

/** Size of the block of so many docs, 2 or more: the least power of two that holds them and their number. */
function blockInts(docs: number): number {
  return 1 << (32 - Math.clz32(docs));
}
