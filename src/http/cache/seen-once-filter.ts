/**
 * Remembers which texts were asked for lately. An answer that nobody asks for again is dear to keep: it takes memory
 * from others, and the garbage collector copies it twice. Most queries differ, so the answer to a query is kept from
 * the second time that it is asked for.
 */
import { digestNumber } from '../../store/codec/digest.ts';

/** A text is forgotten when another one comes to its place: after about so many others. */
const places = 32_768;

export class SeenOnceFilter {
  /** Digests, each at the place that it says itself. Two texts of one digest only mean that an answer is kept too early. */
  readonly #asked = new Uint32Array(places);

  /** Notes that a text is asked for. @returns whether it was asked for before, and is not forgotten yet */
  note(text: string): boolean {
    const digest = digestNumber(text);
    const place = digest % places;
    const isKnown = this.#asked[place] === digest;
    this.#asked[place] = digest;
    return isKnown;
  }
}
