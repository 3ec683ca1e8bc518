/** Gives jobs their portions at the pace that readers leave them (`backpressure.ts`). All jobs of a process share one. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { CachedPromise } from '../lib/shared-promises.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';
import { Backpressure, type FrontFigures } from './backpressure.ts';

/** Fronts tell their figures once a second. */
export const frontFiguresEveryMs = 1_000;
const stillPollMs = 100;

export class PacedPortions {
  readonly #pace = new Backpressure();
  readonly #hearing: CachedPromise<void>;

  constructor(store: Store) {
    this.#hearing = new CachedPromise(async () => {
      this.#pace.hear(figuresOf(await liveProcesses(store)), performance.now());
    }, frontFiguresEveryMs);
  }

  /** Entities a second over all jobs; null for no limit, because nobody reads. */
  get perSecond(): number | null {
    return this.#pace.perSecond;
  }

  /** Receives what the fronts last reported. To be called each second while no job asks for portions. @throws StoreUnavailableError */
  hear(): Promise<void> {
    return this.#hearing.get();
  }

  /** Waits until the next portion may begin. @returns how many entities it has. @throws AbortError, StoreUnavailableError */
  async next(signal: AbortSignal): Promise<number> {
    for (;;) {
      await this.hear();
      const portion = this.#pace.portion(performance.now());
      if (portion !== null && portion.pauseMs <= 0) return portion.entities;
      await setTimeout(portion?.pauseMs ?? stillPollMs, undefined, { signal });
      if (portion !== null) return portion.entities;
    }
  }
}

function figuresOf(processes: Awaited<ReturnType<typeof liveProcesses>>): FrontFigures[] {
  return processes
    .filter(({ role }) => role === 'web')
    .map(({ id, requestsPerSecond = 0, readWaitMs = null }) => ({ id, requestsPerSecond, readWaitMs }));
}
