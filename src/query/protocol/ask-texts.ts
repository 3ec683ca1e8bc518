/**
 * Texts that are sent over a link again and again: the first time with a place, from then on as the place alone. The
 * asking end decides what stands where, and tells of it before it uses it, so both ends always have the same table.
 */

/** Texts that a table holds, and the longest one of them. */
export const textsMax = 1000;
export const textLengthMax = 8192;

/** Place of a text that no table holds. */
const nowhere = textsMax;

/** What travels of a text. */
export interface SentText {
  readonly place: number;
  /** Empty for one that the other end has at its place. */
  readonly text: string;
}

/** The asking end. */
export class TextPlaces {
  readonly #places = new Map<string, SentText>();
  readonly #texts: string[] = [];
  #next = 0;

  /** @param text not empty */
  send(text: string): SentText {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    if (text.length > textLengthMax) return { place: nowhere, text };
    return { place: this.#add(text), text };
  }

  /** At the place of the oldest, once all places are taken. */
  #add(text: string): number {
    const place = this.#next;
    this.#next = (place + 1) % textsMax;
    const oldest = this.#texts[place];
    if (oldest !== undefined) this.#places.delete(oldest);
    this.#texts[place] = text;
    this.#places.set(text, { place, text: '' });
    return place;
  }
}

/** The other end. */
export class PlacedTexts {
  readonly #texts: string[] = [];

  /** @throws RangeError for what no asking end says */
  receive({ place, text }: SentText): string {
    if (text !== '') {
      if (place < textsMax) this.#texts[place] = text;
      return text;
    }
    const known = this.#texts[place];
    if (known === undefined) throw new RangeError(`no text was placed at ${place}`);
    return known;
  }
}
