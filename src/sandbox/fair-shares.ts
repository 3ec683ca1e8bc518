/** Fair queueing by processor time: of those that wait, the one that has used the least goes first. */
import { BoundedCache } from '../lib/bounded-cache.ts';

export class FairShares {
  readonly #usedMs = new BoundedCache<string, number>({ entriesMax: 10_000 });
  /** What the last one had used. An owner that waits for the first time begins here, so that nobody saves up time while idle. */
  #floorMs = 0;

  /** @param waiting at least one name */
  next(waiting: Iterable<string>): string {
    let [next, leastMs] = ['', Number.POSITIVE_INFINITY];
    for (const name of waiting) {
      const usedMs = this.#usedBy(name);
      if (usedMs < leastMs) [next, leastMs] = [name, usedMs];
    }
    this.#floorMs = Math.max(this.#floorMs, leastMs);
    this.#usedMs.set(next, leastMs);
    return next;
  }

  charge(name: string, ms: number): void {
    this.#usedMs.set(name, this.#usedBy(name) + ms);
  }

  #usedBy(name: string): number {
    return Math.max(this.#floorMs, this.#usedMs.get(name) ?? 0);
  }
}
