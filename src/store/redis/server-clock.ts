/** The clock of a Redis as a process knows it: what it said last, and how much time has passed since by the process' own clock. */
import { performance } from 'node:perf_hooks';
import { assert } from '../../lib/assert.ts';

export class ServerClock {
  #aheadMs: number | null = null;

  /**
   * Notes what a reply says that has just come. Redis may have said it at any time since it was asked. What is known stays if it
   * may be right; else the clock is taken to have said it just now, so that this one is never ahead.
   * @param askedMs by the process' clock
   */
  note(clockMs: number, askedMs: number): void {
    const [least, most] = [clockMs - performance.now(), clockMs - askedMs];
    const known = this.#aheadMs ?? Number.NEGATIVE_INFINITY;
    if (known < least || known > most) this.#aheadMs = least;
  }

  get nowMs(): number {
    assert(this.#aheadMs !== null, 'the clock was asked for before it was noted');
    return performance.now() + this.#aheadMs;
  }
}
