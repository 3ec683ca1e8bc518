import { type PartReader, type Parts, uint32 } from './snapshot/parts.ts';

/** A set of doc ids with one bit per id. */
export class Bitmap {
  words: Uint32Array;

  /** @param capacity number of ids that it can hold: 0 to capacity - 1 */
  constructor(capacity: number) {
    this.words = new Uint32Array((capacity + 31) >>> 5);
  }

  grow(capacity: number): void {
    const words = new Uint32Array((capacity + 31) >>> 5);
    words.set(this.words);
    this.words = words;
  }

  *parts(): Parts {
    yield this.words;
  }

  async restore(from: PartReader): Promise<void> {
    this.words = await from.numbers(uint32);
  }

  has(id: number): boolean {
    return ((this.words[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;
  }

  add(id: number): void {
    const at = id >>> 5;
    this.words[at] = (this.words[at] ?? 0) | (1 << (id & 31));
  }

  addAll(ids: ArrayLike<number>): void {
    for (let at = 0; at < ids.length; at += 1) this.add(ids[at] ?? 0);
  }

  remove(id: number): void {
    const at = id >>> 5;
    this.words[at] = (this.words[at] ?? 0) & ~(1 << (id & 31));
  }

  /** Keeps the ids that are also in the other set. */
  intersect(other: Bitmap): void {
    const { words } = this;
    for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) & (other.words[at] ?? 0);
  }

  /** Keeps the ids that are not in the other set. */
  subtract(other: Bitmap): void {
    const { words } = this;
    for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) & ~(other.words[at] ?? 0);
  }

  unite(other: Bitmap): void {
    const { words } = this;
    for (let at = 0; at < words.length; at += 1) words[at] = (words[at] ?? 0) | (other.words[at] ?? 0);
  }

  /** Becomes the set of ids that are in `all` but not in this set. */
  complement(all: Bitmap): void {
    const { words } = this;
    for (let at = 0; at < words.length; at += 1) words[at] = ~(words[at] ?? 0) & (all.words[at] ?? 0);
  }

  /** Number of ids. Counting stops at `limit` or a little beyond. */
  countUpTo(limit: number): number {
    const { words } = this;
    let count = 0;
    for (let at = 0; at < words.length && count < limit; at += 1) count += popCount(words[at] ?? 0);
    return count;
  }

  /** Writes the ids into `out` in ascending order. @returns number of ids */
  list(out: Int32Array): number {
    const { words } = this;
    let count = 0;
    for (let at = 0; at < words.length; at += 1) {
      let word = words[at] ?? 0;
      while (word !== 0) {
        const bit = 31 - Math.clz32(word & -word);
        out[count] = (at << 5) + bit;
        count += 1;
        word &= word - 1;
      }
    }
    return count;
  }
}

function popCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
