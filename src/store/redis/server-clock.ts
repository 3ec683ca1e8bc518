/** The clock of a Redis as a process knows it: what it said last, and how much time has passed since by the process' own clock. */
import { performance } from 'node:perf_hooks';
import { assert } from '../../lib/assert.ts';

export class ServerClock {
  #aheadMs: number | null = null;

  /** Notes what a reply says that has just come. The reply was on its way for a while, so this clock is never ahead. */
  note(clockMs: number): void {
    this.#aheadMs = clockMs - performance.now();
  }

  get nowMs(): number {
    assert(this.#aheadMs !== null, 'the clock was asked for before it was noted');
    return performance.now() + this.#aheadMs;
  }
}
