import { type PartReader, type Parts, uint8, uint32 } from '../snapshot/parts.ts';

type Counts = Uint8Array | Uint16Array | Uint32Array;

const capacityMin = 16;

/** Number of words of each doc in a field, and in total. Takes one byte per doc while no doc has more than 255. */
export class WordCounts {
  #counts: Counts = new Uint8Array(0);
  /** Number of words of all docs. */
  #words = 0;
  /** Number of docs with a word. */
  #docs = 0;

  get words(): number {
    return this.#words;
  }

  get docs(): number {
    return this.#docs;
  }

  get bytes(): number {
    return this.#counts.byteLength;
  }

  /** Counts by doc; docs beyond the end have no words. Must neither be modified nor kept. */
  get byDoc(): Counts {
    return this.#counts;
  }

  *parts(): Parts {
    const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = this.#counts;
    yield Uint32Array.of(BYTES_PER_ELEMENT);
    yield new Uint8Array(buffer, byteOffset, byteLength);
  }

  async restore(from: PartReader): Promise<void> {
    const [width = 1] = await from.numbers(uint32);
    const { buffer, byteOffset, byteLength } = await from.numbers(uint8);
    const CountArray = arrayOfWidth(width);
    this.#counts = new CountArray(buffer, byteOffset, byteLength / width);
    for (const count of this.#counts) {
      this.#words += count;
      if (count > 0) this.#docs += 1;
    }
  }

  /** Sets the number of words of a doc, which must have none. */
  set(doc: number, words: number): void {
    if (words === 0) return;
    this.#reserve(doc, words);
    this.#counts[doc] = words;
    this.#words += words;
    this.#docs += 1;
  }

  clear(doc: number): void {
    const words = this.#counts[doc] ?? 0;
    if (words === 0) return;
    this.#counts[doc] = 0;
    this.#words -= words;
    this.#docs -= 1;
  }

  #reserve(doc: number, words: number): void {
    const before = this.#counts;
    const width = words < 256 ? 1 : words < 65_536 ? 2 : 4;
    if (doc < before.length && width <= before.BYTES_PER_ELEMENT) return;
    const length = doc < before.length ? before.length : Math.max(capacityMin, doc + 1, 2 * before.length);
    const CountArray = arrayOfWidth(Math.max(width, before.BYTES_PER_ELEMENT));
    this.#counts = new CountArray(length);
    this.#counts.set(before);
  }
}

function arrayOfWidth(
  bytes: number,
): Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor {
  if (bytes === 1) return Uint8Array;
  return bytes === 2 ? Uint16Array : Uint32Array;
}
