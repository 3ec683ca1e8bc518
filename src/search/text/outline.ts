import { countCodePoints } from '../../lib/code-points.ts';
import { letterMask, spareBits } from './letter-mask.ts';

/** What stands for a term in most comparisons: its letter mask, and its length as far as that fits into the spare bits. */
export type Outline = number;

const lengthMax = 2 ** spareBits - 1;
const allBits = -1;

/** Of a term that is not there: it has no letters. */
export const goneOutline: Outline = 0;

export function outlineOf(term: string): Outline {
  return letterMask(term) | Math.min(countCodePoints(term), lengthMax);
}

/**
 * Passes the outlines of terms that can be near a word. One edit changes at most one letter on either side, and a swap
 * none. So many terms are asked about, with answers so mixed, that the letters take no branch: the processor could not
 * guess it.
 */
export class OutlineFilter {
  readonly #letters: number;
  /** Letters that count where the word does not have them: none behind a beginning. */
  readonly #others: number;
  readonly #lengthMin: number;
  readonly #lengthMax: number;
  /** Bits that the first and the second edit leave: all, where there is no such edit. */
  readonly #leftByFirst: number;
  readonly #leftBySecond: number;

  /** @param bound edits, 0 to 2 @param isBeginning a beginning of the term must be near, not the whole */
  constructor(word: string, bound: number, isBeginning: boolean) {
    const outline = outlineOf(word);
    const length = outline & lengthMax;
    this.#letters = outline & ~lengthMax;
    this.#others = isBeginning ? 0 : ~outline & ~lengthMax;
    this.#lengthMin = length - bound;
    this.#lengthMax = isBeginning ? lengthMax : length + bound;
    this.#leftByFirst = bound > 0 ? 0 : allBits;
    this.#leftBySecond = bound > 1 ? 0 : allBits;
  }

  passes(outline: Outline): boolean {
    let missing = this.#letters & ~outline;
    let besides = this.#others & outline;
    // Each edit takes the lowest bit off.
    missing &= (missing - 1) | this.#leftByFirst;
    missing &= (missing - 1) | this.#leftBySecond;
    besides &= (besides - 1) | this.#leftByFirst;
    besides &= (besides - 1) | this.#leftBySecond;
    if ((missing | besides) !== 0) return false;
    const length = outline & lengthMax;
    return length >= this.#lengthMin && length <= this.#lengthMax && outline !== goneOutline;
  }
}
