import { workBudget } from '../../lib/cooperative-yield.ts';

/** Lists of codes by doc, as in `ListArena`. */
interface CodeLists {
  readonly items: Int32Array;
  readonly starts: Uint32Array;
  readonly counts: Uint32Array;
}

/** Counts by code. Reused by later queries; `clear` only resets the counted codes. */
export class CodeTally {
  #counts = new Uint32Array(1024);
  #codes = new Int32Array(1024);
  #size = 0;

  /** Makes room for codes below `codeCount`. Must be called before counting. */
  reserve(codeCount: number): void {
    if (this.#counts.length >= codeCount) return;
    this.#counts = new Uint32Array(codeCount * 2);
    this.#codes = new Int32Array(codeCount * 2);
  }

  /** Counts the code of each of the docs at `from`..`end`. Negative codes mean no value. */
  countCodes(codes: Int32Array, docs: Int32Array, from: number, end: number): void {
    const counts = this.#counts;
    for (let at = from; at < end; at += 1) {
      const code = codes[docs[at] ?? 0] ?? -1;
      if (code < 0) continue;
      const before = counts[code] ?? 0;
      counts[code] = before + 1;
      if (before === 0) this.#note(code);
    }
  }

  /** Counts every code in the lists of the docs at `from`..`end`, for at least one doc. @returns where to continue */
  countLists(
    { items, starts, counts: lengths }: CodeLists,
    docs: Int32Array,
    from: number,
    end: number,
  ): number {
    const counts = this.#counts;
    let at = from;
    while (at < end) {
      const doc = docs[at] ?? 0;
      const start = starts[doc] ?? 0;
      const stop = start + (lengths[doc] ?? 0);
      workBudget.units += 1 + stop - start;
      for (let item = start; item < stop; item += 1) {
        const code = items[item] ?? 0;
        const before = counts[code] ?? 0;
        counts[code] = before + 1;
        if (before === 0) this.#note(code);
      }
      at += 1;
      if (workBudget.units >= workBudget.unitsPerClockCheck) break;
    }
    return at;
  }

  #note(code: number): void {
    this.#codes[this.#size] = code;
    this.#size += 1;
  }

  /** Number of distinct counted codes. */
  get size(): number {
    return this.#size;
  }

  /** The `at`-th counted code, in order of first occurrence. */
  codeAt(at: number): number {
    return this.#codes[at] ?? 0;
  }

  countOf(code: number): number {
    return this.#counts[code] ?? 0;
  }

  /** Moves the count of `code` to `into`. */
  join(code: number, into: number): void {
    this.#counts[into] = this.countOf(into) + this.countOf(code);
    this.#counts[code] = 0;
  }

  /** Removes codes that were joined into others. */
  leaveOutEmpty(): void {
    let size = 0;
    for (let at = 0; at < this.#size; at += 1) {
      const code = this.codeAt(at);
      if (this.countOf(code) === 0) continue;
      this.#codes[size] = code;
      size += 1;
    }
    this.#size = size;
  }

  clear(): void {
    for (let at = 0; at < this.#size; at += 1) this.#counts[this.#codes[at] ?? 0] = 0;
    this.#size = 0;
  }
}
