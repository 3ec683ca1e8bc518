/**
 * Does work on the main thread a slice at a time. Work that does not fit into this turn of the event loop waits for the next
 * turns. So under a flood of bodies other requests are answered in between.
 */

/** Slice of one turn; a body that is read on this thread takes less. */
const sliceMs = 4;

export class TimeSlices {
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isTurnBegun = false;

  /**
   * Does the work at once when this turn has time and nobody waits, else later, in the order asked. @throws what `work`
   * throws
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (this.#waiting.length === 1) this.#work();
    });
  }

  #work(): void {
    if (this.#waiting.length === 0) return;
    if (!this.#isTurnBegun) {
      this.#isTurnBegun = true;
      setImmediate(() => this.#nextTurn());
    }
    while (this.#spentMs < sliceMs) {
      const startMs = performance.now();
      const work = this.#waiting.shift();
      if (work === undefined) return;
      work();
      this.#spentMs += performance.now() - startMs;
    }
  }

  #nextTurn(): void {
    this.#isTurnBegun = false;
    this.#spentMs = 0;
    this.#work();
  }
}
