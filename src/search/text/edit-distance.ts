const boundMax = 2;

/**
 * Optimal string alignment within a bound: insertion, deletion, replacement and transposition of two adjacent characters count
 * 1 each, and no part is edited twice (docs/reference/indexes-and-queries.md "Search"). It works on code points in reused
 * buffers, so that comparing a word with a hundred thousand others allocates nothing.
 */
export class EditDistance {
  #word = new Uint32Array(64);
  #wordLength = 0;
  #term = new Uint32Array(64);
  #rows: [Uint8Array, Uint8Array, Uint8Array] = [new Uint8Array(66), new Uint8Array(66), new Uint8Array(66)];

  /** Sets the word for later comparisons. */
  setWord(word: string): void {
    if (this.#word.length < word.length) this.#word = new Uint32Array(word.length * 2);
    this.#wordLength = readCodePoints(word, this.#word);
    const prefixMax = this.#wordLength + boundMax;
    if (this.#term.length < prefixMax) this.#term = new Uint32Array(prefixMax * 2);
  }

  /** Distance of the word to `term`; `bound + 1` if it exceeds `bound`. @param bound at most 2 */
  within(term: string, bound: number): number {
    if (this.#term.length < term.length) this.#term = new Uint32Array(term.length * 2);
    const a = this.#word;
    const b = this.#term;
    let aEnd = this.#wordLength;
    let bEnd = readCodePoints(term, b);
    let start = 0;
    while (start < aEnd && start < bEnd && a[start] === b[start]) start += 1;
    while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
      aEnd -= 1;
      bEnd -= 1;
    }
    if (aEnd === start || bEnd === start) return Math.min(Math.max(aEnd, bEnd) - start, bound + 1);
    if (Math.abs(aEnd - bEnd) > bound) return bound + 1;
    return this.#lastRow(start, aEnd, bEnd, bound)?.[bEnd - start] ?? bound + 1;
  }

  /**
   * Minimum distance of the word to any prefix of `term`, including the whole; `bound + 1` if it exceeds `bound`.
   * @param bound at most 2
   */
  prefixWithin(term: string, bound: number): number {
    const a = this.#word;
    const b = this.#term;
    const aEnd = this.#wordLength;
    // Longer prefixes cannot be within the bound.
    const bEnd = readCodePoints(term, b, aEnd + bound);
    let start = 0;
    while (start < aEnd && start < bEnd && a[start] === b[start]) start += 1;
    const height = aEnd - start;
    if (height === 0 || bEnd === start) return Math.min(height, bound + 1);
    if (bound === 0 || !this.#hasLetters(start, aEnd, bEnd, bound)) return bound + 1;
    const row = this.#lastRow(start, aEnd, bEnd, bound);
    let least = bound + 1;
    const to = Math.min(bEnd - start, height + bound);
    for (let column = Math.max(0, height - bound); column <= to; column += 1) {
      least = Math.min(least, row?.[column] ?? least);
    }
    return least;
  }

  /** False if more letters of a[start..aEnd) than the bound are missing nearby in b. Each of them is an edit. */
  #hasLetters(start: number, aEnd: number, bEnd: number, bound: number): boolean {
    let letters = 0;
    for (let at = Math.max(0, start - bound); at < bEnd; at += 1)
      letters |= 1 << ((this.#term[at] ?? 0) & 31);
    let missing = 0;
    for (let at = start; at < aEnd; at += 1) {
      if ((letters & (1 << ((this.#word[at] ?? 0) & 31))) !== 0) continue;
      missing += 1;
      if (missing > bound) return false;
    }
    return true;
  }

  /**
   * The last row of the matrix of a[start..aEnd) and b[start..bEnd): the distances of the whole former text to each prefix of
   * the latter. Null if all are out of bound. A cell of the matrix is the distance of the prefixes that end there. Only cells
   * at most `bound` from the diagonal can be within the bound. The others (.) are not computed and must not be read. For the
   * word "hosue", the term "house" and bound 2:
   *
   *          h  o  u  s  e
   *       0  1  2  .  .  .
   *    h  1  0  1  2  .  .      before
   *    o  2  1  0  1  2  .      above
   *    s  .  2  1  1  1  2      row: each cell is the least of
   *    u  .  .  2  1  1  2        above + 1 (delete), left + 1 (insert),
   *    e  .  .  .  2  2  1        above left + 0 or 1 (keep or replace),
   *                               two up and two left + 1 (swap of neighbours)
   */
  #lastRow(start: number, aEnd: number, bEnd: number, bound: number): Uint8Array | null {
    const a = this.#word;
    const b = this.#term;
    const height = aEnd - start;
    const width = bEnd - start;
    if (height - width > bound) return null;
    this.#ensureRows(width + 2);
    let [before, above, row] = this.#rows;
    const far = bound + 1;
    for (let column = 0; column <= width; column += 1) above[column] = Math.min(column, far);
    for (let line = 1; line <= height; line += 1) {
      const from = Math.max(1, line - bound);
      const to = Math.min(width, line + bound);
      row[from - 1] = from === 1 ? Math.min(line, far) : far;
      let least = far;
      const aPoint = a[start + line - 1];
      for (let column = from; column <= to; column += 1) {
        const bPoint = b[start + column - 1];
        let cost = (above[column - 1] ?? far) + (aPoint === bPoint ? 0 : 1);
        // Cells right of the band in the row above were not computed.
        const aboveCost = column === line + bound ? far : (above[column] ?? far);
        cost = Math.min(cost, aboveCost + 1, (row[column - 1] ?? far) + 1);
        const isSwap =
          line > 1 && column > 1 && aPoint === b[start + column - 2] && a[start + line - 2] === bPoint;
        if (isSwap) cost = Math.min(cost, (before[column - 2] ?? far) + 1);
        row[column] = Math.min(cost, far);
        if (cost < least) least = cost;
      }
      if (least > bound) return null;
      [before, above, row] = [above, row, before];
    }
    return above;
  }

  #ensureRows(width: number): void {
    if (this.#rows[0].length >= width) return;
    this.#rows = [new Uint8Array(width * 2), new Uint8Array(width * 2), new Uint8Array(width * 2)];
  }
}

/** @returns their number, at most `countMax` */
function readCodePoints(text: string, into: Uint32Array, countMax = Number.POSITIVE_INFINITY): number {
  let count = 0;
  for (let at = 0; at < text.length && count < countMax; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    into[count] = codePoint;
    count += 1;
  }
  return count;
}
