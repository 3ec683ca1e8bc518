import { performance } from 'node:perf_hooks';
import { assert } from '../../lib/assert.ts';

/** Redis' clock, estimated from its last known value and the time since then by the process' own clock. */
export class ServerClock {
  #aheadMs: number | null = null;

  /** Sets the clock from a reply that has just arrived. Because of the latency of the reply, the estimate is never ahead. */
  set(clockMs: number): void {
    this.#aheadMs = clockMs - performance.now();
  }

  get nowMs(): number {
    assert(this.#aheadMs !== null, 'the clock is set before it is read');
    return performance.now() + this.#aheadMs;
  }
}
