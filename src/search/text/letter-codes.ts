/** Maximum number of encoded letters of a term. */
const codedMax = 12;
/** Letters per int, and bits per letter. */
const lettersPerInt = 6;
const letterBits = 5;
const letterMask = 2 ** letterBits - 1;
/** In the first int: all letters are a to z and encoded, so no other term has this code. */
const sharpBit = 1 << (lettersPerInt * letterBits);
/** In the second int: the code is truncated. */
const cutBit = sharpBit;

/** A batch of codes: the two ints of each term. */
export class CodeBatch {
  readonly first: Int32Array;
  readonly second: Int32Array;

  constructor(capacity: number) {
    this.first = new Int32Array(capacity);
    this.second = new Int32Array(capacity);
  }
}

/**
 * The first letters of each term, encoded in two ints. Letters share codes, but a to z have distinct ones. So the distance of
 * two codes is at most that of the terms, and equal for two sharp codes.
 */
export class LetterCodes {
  readonly #ints: Int32Array;

  /** @param count number of terms */
  constructor(count: number) {
    this.#ints = new Int32Array(2 * count);
  }

  get bytes(): number {
    return this.#ints.byteLength;
  }

  set(termId: number, term: string): void {
    let [first, second, count] = [0, 0, 0];
    let isSharp = true;
    for (let at = 0; at < term.length; at += 1) {
      const codePoint = term.codePointAt(at) ?? 0;
      if (codePoint > 0xffff) at += 1;
      isSharp &&= isSharpLetter(codePoint);
      if (count < lettersPerInt) first |= codeOf(codePoint) << (letterBits * count);
      else if (count < codedMax) second |= codeOf(codePoint) << (letterBits * (count - lettersPerInt));
      count += 1;
    }
    const isCut = count > codedMax;
    this.#ints[2 * termId] = isSharp && !isCut ? first | sharpBit : first;
    this.#ints[2 * termId + 1] = isCut ? second | cutBit : second;
  }

  /** Reads the codes of terms. A separate loop, so that the memory accesses overlap. */
  read(termIds: Int32Array, count: number, into: CodeBatch): void {
    const ints = this.#ints;
    for (let at = 0; at < count; at += 1) {
      const from = 2 * (termIds[at] ?? 0);
      into.first[at] = ints[from] ?? 0;
      into.second[at] = ints[from + 1] ?? 0;
    }
  }
}

/** True if no other term has the code. @param first its first int */
export function isSharpCode(first: number): boolean {
  return (first & sharpBit) !== 0;
}

/** True if no other word has the codes of this one. */
export function isSharpWord(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (!isSharpLetter(word.charCodeAt(at))) return false;
  return true;
}

function isSharpLetter(codePoint: number): boolean {
  return codePoint >= 0x61 && codePoint <= 0x7a;
}

/** The code of a letter; never 0. */
function codeOf(codePoint: number): number {
  return 1 + (codePoint % letterMask);
}

/**
 * The distances of a word to the codes of terms, by optimal string alignment, like `EditDistance`. A column of the matrix is
 * two bit vectors, with a bit per letter of the word: where a cell is 1 more, and where it is 1 less, than the cell above it.
 * A letter of the term computes all bits of the next column together (Hyyrö, "A bit-vector algorithm for computing
 * Levenshtein and Damerau edit distances", 2003).
 */
export class CodeDistance {
  /** By code: the positions of its letters in the word, as bits. */
  readonly #having = new Int32Array(letterMask + 1);
  #length = 0;

  setWord(word: string): void {
    this.#having.fill(0);
    this.#length = 0;
    for (let at = 0; at < word.length; at += 1) {
      const codePoint = word.codePointAt(at) ?? 0;
      if (codePoint > 0xffff) at += 1;
      const code = codeOf(codePoint);
      this.#having[code] = (this.#having[code] ?? 0) | (1 << this.#length);
      this.#length += 1;
    }
  }

  /**
   * A lower bound of the distance of the word to a term, or to its nearest prefix, if that distance is within `bound`.
   * @param bound at most 2
   */
  atLeast(first: number, second: number, bound: number, isPrefix: boolean): number {
    // After a truncated code, the term may continue in any way.
    if ((second & cutBit) !== 0 && !(isPrefix && this.#length + bound <= codedMax)) return 0;
    const having = this.#having;
    const last = this.#length - 1;
    let [more, less, kept, before] = [-1, 0, 0, 0];
    let distance = this.#length;
    let least = distance;
    let left = first & ~sharpBit;
    let next = second & ~cutBit;
    while (left !== 0) {
      const same = having[left & letterMask] ?? 0;
      kept = (((same & more) + more) ^ more) | same | less | (((~kept & same) << 1) & before);
      before = same;
      const besideMore = less | ~(kept | more);
      const besideLess = kept & more;
      // Without a branch, which the processor could not predict.
      distance += ((besideMore >>> last) & 1) - ((besideLess >>> last) & 1);
      least = Math.min(least, distance);
      const shifted = (besideMore << 1) | 1;
      more = (besideLess << 1) | ~(kept | shifted);
      less = shifted & kept;
      left >>>= letterBits;
      if (left === 0) {
        left = next;
        next = 0;
      }
    }
    return isPrefix ? least : distance;
  }
}
