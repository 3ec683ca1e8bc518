import { assert } from '../lib/assert.ts';
import { bytes, type PartReader, type Parts, uint8, uint32 } from './snapshot/parts.ts';

/** Kind of a value. Strings with characters beyond Latin-1 are wide: they take two bytes per unit. */
const [missing, no, yes, narrow, wide] = [0, 1, 2, 3, 4];
const narrowText = /^[\0-\xff]*$/;

/** Packing more at once would block the event loop. */
const bytesMax = 256 * 1024;

/** Strings, booleans and missing values outside the heap, in the format of snapshots. */
export class PackedValues {
  /** Offset of each value in bytes, then the end of the last one. */
  readonly #starts: Uint32Array;
  readonly #kinds: Uint8Array;
  readonly #bytes: Buffer;

  private constructor(starts: Uint32Array, kinds: Uint8Array, texts: Buffer) {
    this.#starts = starts;
    this.#kinds = kinds;
    this.#bytes = texts;
  }

  /** Packs values from `from` to `end`, at most about `bytesMax`. */
  static of(valueAt: (index: number) => PlainValue | undefined, from: number, end: number): PackedValues {
    const starts = [0];
    const kinds: number[] = [];
    const texts: Buffer[] = [];
    let size = 0;
    for (let at = from; at < end && size < bytesMax; at += 1) {
      const value = valueAt(at);
      const kind = kindOf(value);
      kinds.push(kind);
      if (typeof value === 'string') texts.push(Buffer.from(value, encodingOf(kind)));
      size += typeof value === 'string' ? (texts.at(-1)?.length ?? 0) : 0;
      starts.push(size);
    }
    return new PackedValues(Uint32Array.from(starts), Uint8Array.from(kinds), Buffer.concat(texts));
  }

  /** @throws SnapshotDamagedError */
  static async from(reader: PartReader): Promise<PackedValues> {
    const starts = await reader.numbers(uint32);
    return new PackedValues(starts, await reader.numbers(uint8), await reader.numbers(bytes));
  }

  *parts(): Parts {
    yield this.#starts;
    yield this.#kinds;
    yield this.#bytes;
  }

  get length(): number {
    return this.#kinds.length;
  }

  at(index: number): string | boolean | undefined {
    const kind = this.#kinds[index] ?? missing;
    if (kind < narrow) return kind === missing ? undefined : kind === yes;
    return this.#bytes.toString(encodingOf(kind), this.#starts[index], this.#starts[index + 1]);
  }

  /** True if the value at the index is this one. Unlike `at`, it creates no string. */
  holds(index: number, value: PlainValue): boolean {
    const kind = this.#kinds[index] ?? missing;
    if (kind < narrow || typeof value !== 'string') return value === this.at(index);
    const start = this.#starts[index] ?? 0;
    const length = (this.#starts[index + 1] ?? 0) - start;
    return kind === narrow ? this.#isNarrow(value, start, length) : this.#isWide(value, start, length);
  }

  #isNarrow(text: string, start: number, length: number): boolean {
    const texts = this.#bytes;
    if (text.length !== length) return false;
    for (let at = 0; at < length; at += 1) if (text.charCodeAt(at) !== texts[start + at]) return false;
    return true;
  }

  #isWide(text: string, start: number, length: number): boolean {
    const texts = this.#bytes;
    if (2 * text.length !== length) return false;
    for (let at = 0; at < text.length; at += 1) {
      const unit = (texts[start + 2 * at] ?? 0) | ((texts[start + 2 * at + 1] ?? 0) << 8);
      if (text.charCodeAt(at) !== unit) return false;
    }
    return true;
  }
}

function kindOf(value: PlainValue | undefined): number {
  if (typeof value === 'string') return narrowText.test(value) ? narrow : wide;
  assert(typeof value !== 'number', 'not a number: those of a snapshot are in columns of their own');
  return value === undefined ? missing : value ? yes : no;
}

function encodingOf(kind: number): BufferEncoding {
  return kind === narrow ? 'latin1' : 'utf16le';
}

export type PlainValue = string | number | boolean;
