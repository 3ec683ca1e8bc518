/** Lists that grow in pages, because a large array is copied completely whenever it grows. */
import { PackedValues, type PlainValue } from './packed-values.ts';
import { type PartReader, type Parts, uint32 } from './snapshot/parts.ts';

const pageBits = 12;
const pageSize = 1 << pageBits;
const pageMask = pageSize - 1;

/** Placeholder for a value of a snapshot that is not unpacked yet. */
const unread = null;
type Page<V> = (V | undefined | typeof unread)[];

/**
 * A list of strings and other plain values. Values from a snapshot stay packed until they are read: creating a million strings
 * at once takes long and causes garbage collections of tens of milliseconds.
 */
export class ValueList<V extends PlainValue> {
  /** A page is undefined until one of its values is read or set. */
  readonly #pages: (Page<V> | undefined)[] = [];
  /** The packed values of a page from a snapshot: usually one pack, several if the values are large. */
  readonly #packs: (readonly PackedValues[] | undefined)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Undefined for missing values and beyond the end. */
  at(index: number): V | undefined {
    const page = this.#pages[index >>> pageBits];
    const value = page === undefined ? unread : page[index & pageMask];
    return value === unread ? this.#read(index) : value;
  }

  /** True if the value at the index is this one. */
  holds(index: number, value: PlainValue): boolean {
    const page = this.#pages[index >>> pageBits];
    const known = page === undefined ? unread : page[index & pageMask];
    if (known !== unread) return known === value;
    let at = index & pageMask;
    for (const pack of this.#packs[index >>> pageBits] ?? []) {
      if (at < pack.length) return pack.holds(at, value);
      at -= pack.length;
    }
    return false;
  }

  push(value: V | undefined): void {
    this.#pageOf(this.#length).push(value);
    this.#length += 1;
  }

  /** Replaces a value. The index must be below the length. */
  set(index: number, value: V | undefined): void {
    this.#pageOf(index)[index & pageMask] = value;
  }

  *parts(): Parts {
    yield Uint32Array.of(this.#length);
    for (let from = 0; from < this.#length; from += pageSize) yield* this.#partsOfPage(from);
  }

  /** The list must be empty. @throws SnapshotDamagedError */
  async restore(from: PartReader): Promise<void> {
    const [length = 0] = await from.numbers(uint32);
    for (let at = 0; at < length; at += pageSize) {
      const packs: PackedValues[] = [];
      for (let left = Math.min(pageSize, length - at); left > 0; ) {
        const pack = await PackedValues.from(from);
        packs.push(pack);
        left -= pack.length;
      }
      this.#packs.push(packs);
    }
    this.#length = length;
  }

  #read(index: number): V | undefined {
    const value = this.#packedAt(index);
    if (index < this.#length) this.#pageOf(index)[index & pageMask] = value;
    return value;
  }

  #packedAt(index: number): V | undefined {
    let at = index & pageMask;
    for (const pack of this.#packs[index >>> pageBits] ?? []) {
      // Only values of type V were packed.
      if (at < pack.length) return pack.at(at) as V | undefined;
      at -= pack.length;
    }
    return undefined;
  }

  #pageOf(index: number): Page<V> {
    const number = index >>> pageBits;
    const known = this.#pages[number];
    if (known !== undefined) return known;
    const packs = this.#packs[number] ?? [];
    const page: Page<V> = Array(packs.reduce((sum, { length }) => sum + length, 0)).fill(unread);
    this.#pages[number] = page;
    return page;
  }

  /** The parts of the page that begins at `from`. */
  *#partsOfPage(from: number): Parts {
    const number = from >>> pageBits;
    const [packs, page] = [this.#packs[number], this.#pages[number]];
    if (packs !== undefined && page === undefined) {
      for (const pack of packs) yield* pack.parts();
      return;
    }
    const end = Math.min(from + pageSize, this.#length);
    const valueAt = (index: number): V | undefined => {
      const value = page?.[index & pageMask];
      return value === unread ? this.#packedAt(index) : value;
    };
    for (let at = from; at < end; ) {
      const pack = PackedValues.of(valueAt, at, end);
      yield* pack.parts();
      at += pack.length;
    }
  }
}

/** A sparse list of any values. Not included in snapshots. */
export class PagedList<T> {
  /** Pages without values are undefined. */
  readonly #pages: (T[] | undefined)[] = [];

  /** Undefined if nothing was set. */
  at(index: number): T | undefined {
    return this.#pages[index >>> pageBits]?.[index & pageMask];
  }

  set(index: number, value: T): void {
    const number = index >>> pageBits;
    const page = this.#pages[number] ?? [];
    this.#pages[number] = page;
    page[index & pageMask] = value;
  }
}
