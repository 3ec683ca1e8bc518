import { assert } from '../../lib/assert.ts';
import { float64, int32, type PartReader, type Parts } from '../snapshot/parts.ts';
import { PostingBlocks } from './posting-blocks.ts';

/** The cost of finding the postings of a term, in units of the work budget. */
export const unitsPerTerm = 5;

/** Postings of a term for a loop: from `from` to before `end`. `docOf` and `Postings.frequency` decode one. */
export interface DocRun {
  docs: Int32Array;
  from: number;
  end: number;
}

/** A posting is a doc id and, in the bits above it, the frequency of the term in the doc, minus 1. */
const docBits = 26;
const docMask = (1 << docBits) - 1;
/** Ids of docs in a shard are below this. */
export const docsMax = 1 << docBits;
/** In place of a frequency that is too large for the posting and is stored in a separate table. */
const inTable = 31;

/** The doc of a posting. */
export function docOf(posting: number): number {
  return posting & docMask;
}

const capacityMin = 16;
const none = -1;
/** Approximate memory of a frequency in the table. */
const bytesPerFrequency = 48;

/**
 * Stores which docs have a term, and how often: a list of postings per term of a dictionary, in typed arrays.
 * docs/design/search.md explains why this is not FlexSearch's index. Dead docs remain in the lists until a sweep filters whole
 * lists when enough docs are dead.
 *
 * Most terms have one doc, so a term with a single doc takes 4 bytes. Other terms have a block: their number of docs, then the
 * postings. The size of the block follows from that number. A frequency up to 31 takes no extra memory.
 */
export class Postings {
  /** By term id: `none`, the only posting, or -2 minus the block. */
  #heads = new Int32Array(capacityMin).fill(none);
  readonly #blocks = new PostingBlocks();
  /** Large frequencies by doc, by term id. */
  #frequencies = new Map<number, Map<number, number>>();
  #frequencyCount = 0;

  get bytes(): number {
    return this.#heads.byteLength + this.#blocks.bytes + bytesPerFrequency * this.#frequencyCount;
  }

  *parts(): Parts {
    yield this.#heads;
    yield* this.#blocks.parts();
    const large: number[] = [];
    for (const [termId, docs] of this.#frequencies) {
      for (const [doc, frequency] of docs) large.push(termId, doc, frequency);
    }
    yield Float64Array.from(large);
  }

  async restore(from: PartReader): Promise<void> {
    this.#heads = await from.numbers(int32);
    await this.#blocks.restore(from);
    const large = await from.numbers(float64);
    for (let at = 0; at < large.length; at += 3) {
      this.#recordFrequency(large[at] ?? 0, large[at + 1] ?? 0, large[at + 2] ?? 0);
    }
  }

  /**
   * Counts an occurrence of a term in a doc. All occurrences in a doc must be added before other docs, because only the last
   * posting of the list is updated.
   * @returns true for the first occurrence
   */
  add(termId: number, doc: number): boolean {
    assert(doc < docsMax, 'a doc id fits into a posting');
    if (termId >= this.#heads.length) this.#reserve(termId + 1);
    const head = this.#heads[termId] ?? none;
    if (head < none) return this.#addToBlock(termId, blockOf(head), doc);
    const isFirst = head === none || docOf(head) !== doc;
    if (head === none) this.#heads[termId] = doc;
    else if (isFirst) this.#write(termId, [head, doc]);
    else this.#heads[termId] = this.#raised(termId, head);
    return isFirst;
  }

  #addToBlock(termId: number, block: number, doc: number): boolean {
    const page = this.#blocks.pageOf(block);
    const start = PostingBlocks.startOf(block);
    const last = start + (page[start] ?? 0);
    const posting = page[last] ?? 0;
    if (docOf(posting) !== doc) {
      this.#append(termId, block, doc);
      return true;
    }
    page[last] = this.#raised(termId, posting);
    return false;
  }

  /** The posting of a doc with one more occurrence. */
  #raised(termId: number, posting: number): number {
    const frequency = this.frequency(termId, posting) + 1;
    if (frequency <= inTable) return posting + (1 << docBits);
    this.#recordFrequency(termId, docOf(posting), frequency);
    return docOf(posting) | (inTable << docBits);
  }

  /** How often the doc of a posting has the term. */
  frequency(termId: number, posting: number): number {
    const small = posting >>> docBits;
    return small < inTable ? small + 1 : (this.#frequencies.get(termId)?.get(docOf(posting)) ?? 0);
  }

  /**
   * Sets `run` to the postings of a term, including those of dead docs, in no particular order. This is the internal memory,
   * which `add` and `keep` change. Do not modify or keep it.
   */
  show(termId: number, run: DocRun): void {
    const head = this.#heads[termId] ?? none;
    if (head >= none) {
      run.docs = this.#heads;
      run.from = termId;
      run.end = head === none ? termId : termId + 1;
      return;
    }
    const block = blockOf(head);
    run.docs = this.#blocks.pageOf(block);
    run.from = PostingBlocks.startOf(block) + 1;
    run.end = run.from + (run.docs[run.from - 1] ?? 0);
  }

  /** Keeps the docs of a term that pass. @returns number of docs before and after */
  keep(termId: number, passes: (doc: number) => boolean): { before: number; after: number } {
    const run: DocRun = { docs: this.#heads, from: 0, end: 0 };
    this.show(termId, run);
    const before = run.end - run.from;
    const kept: number[] = [];
    for (let at = run.from; at < run.end; at += 1) {
      const posting = run.docs[at] ?? 0;
      if (passes(docOf(posting))) kept.push(posting);
      else if (posting >>> docBits === inTable) this.#dropFrequency(termId, docOf(posting));
    }
    if (kept.length < before) {
      this.#clear(termId);
      this.#write(termId, kept);
    }
    return { before, after: kept.length };
  }

  /** Assigns the ids 0, 1, 2… to the given terms. The others must have no docs. */
  renumber(termIds: readonly number[]): void {
    const heads = new Int32Array(Math.max(capacityMin, termIds.length)).fill(none);
    const frequencies = new Map<number, Map<number, number>>();
    for (const [to, from] of termIds.entries()) {
      heads[to] = this.#heads[from] ?? none;
      const large = this.#frequencies.get(from);
      if (large !== undefined) frequencies.set(to, large);
    }
    this.#heads = heads;
    this.#frequencies = frequencies;
  }

  #recordFrequency(termId: number, doc: number, frequency: number): void {
    const docs = this.#frequencies.get(termId) ?? new Map<number, number>();
    this.#frequencies.set(termId, docs);
    if (!docs.has(doc)) this.#frequencyCount += 1;
    docs.set(doc, frequency);
  }

  #dropFrequency(termId: number, doc: number): void {
    const docs = this.#frequencies.get(termId);
    docs?.delete(doc);
    if (docs?.size === 0) this.#frequencies.delete(termId);
    this.#frequencyCount -= 1;
  }

  #append(termId: number, block: number, posting: number): void {
    const page = this.#blocks.pageOf(block);
    const start = PostingBlocks.startOf(block);
    const count = page[start] ?? 0;
    if (count + 1 < blockInts(count)) {
      page[start] = count + 1;
      page[start + count + 1] = posting;
      return;
    }
    const larger = this.#blocks.take(blockInts(count + 1));
    const to = this.#blocks.pageOf(larger);
    const toStart = PostingBlocks.startOf(larger);
    // A block never moves, but the first page may have been replaced.
    const from = this.#blocks.pageOf(block);
    to.set(from.subarray(start + 1, start + 1 + count), toStart + 1);
    to[toStart] = count + 1;
    to[toStart + count + 1] = posting;
    this.#blocks.give(block, blockInts(count));
    this.#heads[termId] = headOf(larger);
  }

  /** Writes the list of a term without postings. */
  #write(termId: number, postings: readonly number[]): void {
    const [only = none] = postings;
    if (postings.length < 2) {
      this.#heads[termId] = only;
      return;
    }
    const block = this.#blocks.take(blockInts(postings.length));
    const page = this.#blocks.pageOf(block);
    const start = PostingBlocks.startOf(block);
    page[start] = postings.length;
    page.set(postings, start + 1);
    this.#heads[termId] = headOf(block);
  }

  #clear(termId: number): void {
    const head = this.#heads[termId] ?? none;
    if (head < none) {
      const block = blockOf(head);
      const count = this.#blocks.pageOf(block)[PostingBlocks.startOf(block)] ?? 0;
      this.#blocks.give(block, blockInts(count));
    }
    this.#heads[termId] = none;
  }

  #reserve(terms: number): void {
    const heads = new Int32Array(Math.max(terms, this.#heads.length * 2)).fill(none, this.#heads.length);
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

/** Size of the block for this many docs (at least 2): the least power of two that fits them and their number. */
function blockInts(docs: number): number {
  return 1 << (32 - Math.clz32(docs));
}
