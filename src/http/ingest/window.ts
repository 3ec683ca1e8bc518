/**
 * How much accepted work may wait for the workers at a time: as much as they do in about `aimMs`. The size follows from
 * how long accepted writes had to wait. So it fits whatever the entities cost, and however many fronts share the
 * workers: each front sees how long its own writes waited among all others.
 */

/**
 * Half of the 200 ms after which a single save can be read with its version, in the median (docs/promises.md "Load and
 * outages").
 */
const aimMs = 100;
const sizeFirst = 400;
/**
 * A smaller size would hardly make anybody faster. An entry then waits mostly for its own way through Redis and for a
 * free core, and not for other entries. An import would get next to nothing done in that time.
 */
const sizeMin = 200;
const sizeMax = 100_000;
/** The window is filled again when this share of it is still in use. */
const refillShare = 0.5;
/** How far the size goes towards the one that would have been right for what is done. */
const gain = 0.5;
const factorMin = 0.5;
const factorMax = 2;

/** Counts work in small entities (`workOf`). */
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
   * A full window has no room until much of its work is done. The writes that then come in together share calls to
   * Redis and stream entries, each of which costs as much as several entities. The write that is taken last may go
   * beyond the size.
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
    // Sums of fractions do not come out even.
    this.#used = Math.max(0, this.#used - work);
  }

  /**
   * Fits the size to work that is done.
   * @param waitedMs time since the work was accepted
   * @param isWanted a request waits for room. Otherwise the size does not grow
   */
  fit(work: number, waitedMs: number, isWanted: boolean): void {
    const factor = Math.min(factorMax, Math.max(factorMin, aimMs / Math.max(1, waitedMs)));
    if (factor > 1 && !isWanted) return;
    this.#size = Math.min(sizeMax, Math.max(sizeMin, this.#size + gain * work * (factor - 1)));
  }
}
