/** Counts by code. Reused from query to query: only what was counted is set back. */
export class FacetTally {
  #counts = new Uint32Array(1024);
  #codes = new Int32Array(1024);
  #size = 0;

  /** Makes room for codes below `codeCount`; nothing may be counted at that moment. */
  reserve(codeCount: number): void {
    if (this.#counts.length >= codeCount) return;
    this.#counts = new Uint32Array(codeCount * 2);
    this.#codes = new Int32Array(codeCount * 2);
  }

  count(code: number): void {
    const before = this.#counts[code] ?? 0;
    this.#counts[code] = before + 1;
    if (before > 0) return;
    this.#codes[this.#size] = code;
    this.#size += 1;
  }

  /** How many codes were counted. */
  get size(): number {
    return this.#size;
  }

  /** The code that was first counted as the `at`-th. */
  codeAt(at: number): number {
    return this.#codes[at] ?? 0;
  }

  countOf(code: number): number {
    return this.#counts[code] ?? 0;
  }

  clear(): void {
    for (let at = 0; at < this.#size; at += 1) this.#counts[this.#codes[at] ?? 0] = 0;
    this.#size = 0;
  }
}
