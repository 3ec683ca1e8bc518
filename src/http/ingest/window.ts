/**
 * How much accepted work may wait for the workers at a time: as much as they do in about `aimMs`. Its size follows from how
 * long what was accepted had to wait, so that it fits whatever the entities cost, and however many fronts share the workers:
 * each sees how long its own writes waited in the line of all.
 */

/** docs/promises.md "Load and outages": a single save is read with its version after 200 ms in the median. */
const aimMs = 100;
const sizeFirst = 400;
/**
 * Below it a smaller size hardly makes anybody faster: what an entry waits for then is mostly not other entries, but its own
 * way through Redis and processes that stand in line for a core, and an import would do next to nothing in that time.
 */
const sizeMin = 200;
const sizeMax = 100_000;
/** It is filled again when so much of it is left. */
const refillShare = 0.5;
/** Of the way to the size that would have been right for what is done. */
const gain = 0.5;
const factorMin = 0.5;
const factorMax = 2;

/** Work is counted in small entities (`workOf`). */
export class IngestWindow {
  #size = sizeFirst;
  #used = 0;
  #isFilling = true;

  get size(): number {
    return this.#size;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * Once it is full there is none until much of it is done: what then comes in together shares calls to Redis and stream
   * entries, each of which costs as much as several entities. What is taken last may go beyond its size.
   */
  get hasRoom(): boolean {
    if (this.#used >= this.#size) this.#isFilling = false;
    else if (this.#used <= this.#size * refillShare) this.#isFilling = true;
    return this.#isFilling;
  }

  take(work: number): void {
    this.#used += work;
  }

  give(work: number): void {
    // What is added and taken away in fractions does not come out even.
    this.#used = Math.max(0, this.#used - work);
  }

  /**
   * Some of what was taken is done, and fits the size.
   * @param waitedMs since it was accepted
   * @param isWanted somebody waits for room: otherwise a larger one would show nothing
   */
  fit(work: number, waitedMs: number, isWanted: boolean): void {
    const factor = Math.min(factorMax, Math.max(factorMin, aimMs / Math.max(1, waitedMs)));
    if (factor > 1 && !isWanted) return;
    this.#size = Math.min(sizeMax, Math.max(sizeMin, this.#size + gain * work * (factor - 1)));
  }
}
