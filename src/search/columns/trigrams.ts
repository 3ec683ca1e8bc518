import { workBudget } from '../../lib/cooperative-yield.ts';

/** A trigram index over the values of a dictionary, so that few of them need to be compared with a pattern. */

const gram = 3;
/** Strings of at least this length are not indexed, and are candidates for every pattern, to save memory. */
const longUnitsMin = 1024;
const bucketsMin = 256;
const bucketsMax = 65_536;
/** A block is the number of the next block, and seven codes. */
const blockSize = 8;
const blockCodes = blockSize - 1;
/** The cost of a trigram, in units of the work budget. */
const unitsPerGram = 5;

/**
 * Trigrams are hashed into buckets, ignoring case. A bucket has all codes with a trigram, and others, so callers must compare
 * the values themselves. Codes are never removed.
 */
export class Trigrams {
  /** Codes from this one on are not indexed yet. */
  builtTo = 0;
  readonly #mask: number;
  /** Newest block of each bucket, and the number of its codes. */
  readonly #heads: Uint32Array;
  readonly #counts: Uint32Array;
  /** Block 0 is the end of each bucket. */
  #blocks = new Uint32Array(bucketsMin * blockSize);
  #blockCount = 1;
  readonly #long: number[] = [];
  #codeCount = 0;

  /** @param valueCount expected number of values */
  constructor(valueCount: number) {
    let buckets = bucketsMin;
    while (buckets < valueCount && buckets < bucketsMax) buckets *= 2;
    this.#mask = buckets - 1;
    this.#heads = new Uint32Array(buckets);
    this.#counts = new Uint32Array(buckets);
  }

  /** Number of added codes, including those of removed values. */
  get codeCount(): number {
    return this.#codeCount;
  }

  get bytes(): number {
    return this.#blocks.byteLength + 8 * this.#heads.length + 8 * this.#long.length;
  }

  add(code: number, value: string): void {
    this.#codeCount += 1;
    if (value.length >= longUnitsMin) {
      this.#long.push(code);
      return;
    }
    const text = withoutCase(value);
    for (let at = 0; at + gram <= text.length; at += 1) this.#put(this.#bucketOf(text, at), code);
    workBudget.units += unitsPerGram * text.length;
  }

  /**
   * Candidate codes for values that contain all parts, with false positives and duplicates. Null when these would be most
   * values, or no part is long enough.
   */
  candidates(parts: readonly string[]): number[] | null {
    const bucket = this.#rarest(parts);
    const count = bucket === null ? 0 : (this.#counts[bucket] ?? 0) + this.#long.length;
    if (bucket === null || count * 2 > this.#codeCount) return null;
    const codes = [...this.#long];
    let block = this.#heads[bucket] ?? 0;
    let inBlock = ((this.#counts[bucket] ?? 0) - 1) % blockCodes;
    while (block !== 0) {
      const start = block * blockSize;
      for (let at = 0; at <= inBlock; at += 1) codes.push(this.#blocks[start + 1 + at] ?? 0);
      block = this.#blocks[start] ?? 0;
      inBlock = blockCodes - 1;
    }
    workBudget.units += codes.length;
    return codes;
  }

  /** The smallest bucket of all trigrams in the parts. */
  #rarest(parts: readonly string[]): number | null {
    let rarest: number | null = null;
    for (const part of parts) {
      const text = withoutCase(part);
      for (let at = 0; at + gram <= text.length; at += 1) {
        const bucket = this.#bucketOf(text, at);
        if (rarest === null || (this.#counts[bucket] ?? 0) < (this.#counts[rarest] ?? 0)) rarest = bucket;
      }
      workBudget.units += unitsPerGram * text.length;
    }
    return rarest;
  }

  #put(bucket: number, code: number): void {
    const count = this.#counts[bucket] ?? 0;
    const inBlock = count % blockCodes;
    const head = this.#heads[bucket] ?? 0;
    if (count > 0) {
      // The trigrams of a value are consecutive.
      const last = head * blockSize + 1 + ((count - 1) % blockCodes);
      if (this.#blocks[last] === code) return;
    }
    const block = inBlock === 0 ? this.#newBlock(head) : head;
    this.#heads[bucket] = block;
    this.#blocks[block * blockSize + 1 + inBlock] = code;
    this.#counts[bucket] = count + 1;
  }

  #newBlock(next: number): number {
    const block = this.#blockCount;
    this.#blockCount += 1;
    if ((block + 1) * blockSize > this.#blocks.length) {
      const blocks = new Uint32Array(this.#blocks.length * 2);
      blocks.set(this.#blocks);
      this.#blocks = blocks;
    }
    this.#blocks[block * blockSize] = next;
    return block;
  }

  #bucketOf(text: string, at: number): number {
    const a = Math.imul(text.charCodeAt(at), 0x9e3779b1);
    const b = Math.imul(text.charCodeAt(at + 1), 0x85ebca6b);
    const c = Math.imul(text.charCodeAt(at + 2), 0xc2b2ae35);
    const hash = a ^ (b >>> 7) ^ (b << 9) ^ (c >>> 13);
    return (hash ^ (hash >>> 15)) & this.#mask;
  }
}

/**
 * Lower-cases a text letter by letter, so that the result for a part is a part of the result. Only sigma has a lower case
 * that depends on its neighbors.
 */
function withoutCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
