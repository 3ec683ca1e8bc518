/** Tells how busy the fronts are now. The busier they are, the more of the machine a rebuild leaves to them. */
import { performance } from 'node:perf_hooks';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/** How long a figure serves; fronts tell theirs once a second. */
const freshMs = 500;

export class FrontLoad {
  #perSecond: Promise<number> = Promise.resolve(0);
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly store: Store) {}

  /** Requests that all fronts together answer in a second. @throws StoreUnavailableError */
  perSecond(): Promise<number> {
    const nowMs = performance.now();
    if (nowMs - this.#askedMs < freshMs) return this.#perSecond;
    this.#askedMs = nowMs;
    this.#perSecond = this.#ask();
    return this.#perSecond;
  }

  async #ask(): Promise<number> {
    const processes = await liveProcesses(this.store);
    return processes.reduce((sum, { requestsPerSecond = 0 }) => sum + requestsPerSecond, 0);
  }
}
