/**
 * Bounds the accepted work that may wait for the workers to what they do in about `aimMs`. The size is adjusted by how long
 * accepted writes had to wait. So it adapts to the cost of entities and to the number of fronts: each front measures how long
 * its own writes waited among all others.
 */

/** Half of the 200 ms in which the median single save becomes visible (docs/promises.md "Load and outages"). */
const aimMs = 100;
const sizeFirst = 400;
/**
 * A smaller size would hardly make writes faster: an entry then waits mostly for Redis and for a free core, and not for other
 * entries. And an import would make almost no progress.
 */
const sizeMin = 200;
const sizeMax = 100_000;
/** The window is refilled when at most this share of it is in use. */
const refillShare = 0.5;
/** Share of the correction that is applied to the size after each completed write. */
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
   * A full window has no room until much of its work is done. The writes that are then accepted together share calls to Redis
   * and stream entries, each of which costs as much as several entities. The last write may exceed the size.
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
    // Sums of fractions have rounding errors.
    this.#used = Math.max(0, this.#used - work);
  }

  /**
   * Adjusts the size after work was done.
   * @param waitedMs time since the work was accepted
   * @param isWanted true if a request waits for room. Otherwise the size does not grow
   */
  fit(work: number, waitedMs: number, isWanted: boolean): void {
    const factor = Math.min(factorMax, Math.max(factorMin, aimMs / Math.max(1, waitedMs)));
    if (factor > 1 && !isWanted) return;
    this.#size = Math.min(sizeMax, Math.max(sizeMin, this.#size + gain * work * (factor - 1)));
  }
}
