/**
 * Which texts were asked for a while ago. An answer that nobody asks for again is dear to keep: it takes part of the
 * memory of others, and the collector copies it twice. So answers of queries, most of which differ, are kept from their
 * second asking on.
 */
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { digestText } from '../../store/codec/digest.ts';

/** About 100 bytes each. */
const textsMax = 16_384;

export class AskedBefore {
  /** Digests: two texts of one digest only mean that an answer is kept too early. */
  readonly #asked = new BoundedCache<string, true>({ entriesMax: textsMax });

  /** Notes that a text is asked for. @returns whether it was before, and is not forgotten yet */
  note(text: string): boolean {
    const digest = digestText(text);
    if (this.#asked.get(digest) === true) return true;
    this.#asked.set(digest, true);
    return false;
  }
}
