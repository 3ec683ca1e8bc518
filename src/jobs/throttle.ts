import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** Lets a bounded number of things through in a second, over all jobs of a process. */
export class Throttle {
  #freeAtMs = 0;

  constructor(private readonly perSecond: number) {}

  /** Waits until `count` things may follow those before. @throws AbortError */
  async take(count: number, signal: AbortSignal): Promise<void> {
    const nowMs = performance.now();
    const startMs = Math.max(nowMs, this.#freeAtMs);
    this.#freeAtMs = startMs + (count * 1000) / this.perSecond;
    if (startMs > nowMs) await setTimeout(startMs - nowMs, undefined, { signal });
  }
}
