/** Signatures of terms: a few bits for their letters and length, which are enough for most comparisons. */
import { countCodePoints } from '../../lib/code-points.ts';

/** Bits of a mask; the lowest are unused. */
const maskBits = 27;
/** Bits that masks do not use. */
const spareBits = 32 - maskBits;

/** The letters of a text as bits: one for each of a to z. Other characters share the bits. */
export function letterMask(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    const bit = codePoint >= 0x61 && codePoint <= 0x7a ? codePoint - 0x61 : codePoint % maskBits;
    mask |= 1 << (bit + spareBits);
  }
  return mask;
}

export function hasMoreBits(bits: number, bound: number): boolean {
  let left = bits;
  for (let count = 0; count < bound && left !== 0; count += 1) left &= left - 1;
  return left !== 0;
}

/**
 * Represents a term in most comparisons: its letter mask, and its length, up to the maximum that fits in the spare bits.
 */
export type LetterSignature = number;

const lengthMax = 2 ** spareBits - 1;
const allBits = -1;

/** The signature of a removed term, which has no letters. */
export const goneSignature: LetterSignature = 0;

export function letterSignatureOf(term: string): LetterSignature {
  return letterMask(term) | Math.min(countCodePoints(term), lengthMax);
}

/**
 * Passes the signatures of terms that can be near a word. An edit changes at most one letter on either side, and a swap none.
 * Letters are compared without a branch, because so many terms are tested, with such mixed results, that the processor could
 * not predict it.
 */
export class LetterSignatureFilter {
  readonly #letters: number;
  /** Letters that count if the word does not have them; none if only a prefix must be near. */
  readonly #others: number;
  readonly #lengthMin: number;
  readonly #lengthMax: number;
  /** Bits that the first and the second edit leave; all bits if there is no such edit. */
  readonly #leftByFirst: number;
  readonly #leftBySecond: number;

  /**
   * @param bound edits, 0 to 2
   * @param isPrefix only a prefix of the term must be near
   */
  constructor(word: string, bound: number, isPrefix: boolean) {
    const signature = letterSignatureOf(word);
    const length = signature & lengthMax;
    this.#letters = signature & ~lengthMax;
    this.#others = isPrefix ? 0 : ~signature & ~lengthMax;
    this.#lengthMin = length - bound;
    this.#lengthMax = isPrefix ? lengthMax : length + bound;
    this.#leftByFirst = bound > 0 ? 0 : allBits;
    this.#leftBySecond = bound > 1 ? 0 : allBits;
  }

  passes(signature: LetterSignature): boolean {
    let missing = this.#letters & ~signature;
    let besides = this.#others & signature;
    // Each edit removes the lowest bit.
    missing &= (missing - 1) | this.#leftByFirst;
    missing &= (missing - 1) | this.#leftBySecond;
    besides &= (besides - 1) | this.#leftByFirst;
    besides &= (besides - 1) | this.#leftBySecond;
    if ((missing | besides) !== 0) return false;
    const length = signature & lengthMax;
    return length >= this.#lengthMin && length <= this.#lengthMax && signature !== goneSignature;
  }
}
