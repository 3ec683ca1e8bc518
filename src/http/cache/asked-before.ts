/**
 * Remembers which texts were asked for lately. An answer that nobody asks for again is dear to keep: it takes memory
 * from others, and the garbage collector copies it twice. Most queries differ, so the answer to a query is kept from
 * the second time that it is asked for.
 */
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { digestText } from '../../store/codec/digest.ts';

/** Each takes about 100 bytes. */
const textsMax = 16_384;

export class AskedBefore {
  /** Digests: two texts of one digest only mean that an answer is kept too early. */
  readonly #asked = new BoundedCache<string, true>({ entriesMax: textsMax });

  /** Notes that a text is asked for. @returns whether it was asked for before, and is not forgotten yet */
  note(text: string): boolean {
    const digest = digestText(text);
    if (this.#asked.get(digest) === true) return true;
    this.#asked.set(digest, true);
    return false;
  }
}
