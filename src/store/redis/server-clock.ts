import { performance } from 'node:perf_hooks';
import { assert } from '../../lib/assert.ts';

/** Redis' clock, estimated from its last known value and the time since then by the process' own clock. */
export class ServerClock {
  #known: { readonly aheadMs: number; readonly readMs: number } | null = null;

  /** Sets the clock from a reply that has just arrived. Because of the latency of the reply, the estimate is never ahead. */
  set(clockMs: number): void {
    const readMs = performance.now();
    this.#known = { aheadMs: clockMs - readMs, readMs };
  }

  /** Time since it was set; infinite if it never was. */
  get ageMs(): number {
    return this.#known === null ? Number.POSITIVE_INFINITY : performance.now() - this.#known.readMs;
  }

  get nowMs(): number {
    return this.at(performance.now());
  }

  /** @param ms on the clock of `performance.now()` */
  at(ms: number): number {
    assert(this.#known !== null, 'the clock is set before it is read');
    return ms + this.#known.aheadMs;
  }
}
