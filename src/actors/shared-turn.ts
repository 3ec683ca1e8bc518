/** A partition's share of a semaphore on which the partitions of a worker take turns, for rebuilds or the schedule. */
import { performance } from 'node:perf_hooks';
import type { Semaphore } from '../lib/semaphore.ts';

export class SharedTurn {
  /** The pending or acquired turn. */
  #pending: Promise<void> | null = null;
  #release: (() => void) | null = null;
  #waiting: Promise<void> | null = null;
  #isClosed = false;
  #wake = () => {};

  /** @param readyInMs milliseconds until work is ready: 0 for now, null if there is none */
  constructor(
    private readonly turns: Semaphore,
    private readonly readyInMs: (nowMs: number) => number | null,
    private readonly onAcquired: () => void,
  ) {}

  get isAcquired(): boolean {
    return this.#release !== null;
  }

  /** Requests a turn unless one is already requested. Calls `onAcquired` when it has it. */
  request(): void {
    this.#waiting ??= this.#acquire().then(() => {
      this.#waiting = null;
      this.onAcquired();
    });
  }

  /** Checks again whether work is ready, because there is more. */
  wake(): void {
    this.#wake();
  }

  /** Gives the turn back. */
  release(): void {
    this.#pending = null;
    this.#release?.();
    this.#release = null;
  }

  /** A turn acquired after this is released immediately. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
    void this.#pending?.then(() => this.#release?.());
  }

  /** Acquires a turn, but not before work is ready. */
  async #acquire(): Promise<void> {
    for (;;) {
      const waitMs = this.readyInMs(performance.now());
      if (waitMs === 0) break;
      await this.#sleep(waitMs);
      // A turn acquired after `close` would never be released.
      if (this.#isClosed) return;
    }
    this.#pending ??= this.turns.acquire().then((release) => {
      this.#release = release;
    });
    await this.#pending;
  }

  /** Sleeps until `wake` is called or the time is over; null for no limit. */
  async #sleep(waitMs: number | null): Promise<void> {
    let timer: NodeJS.Timeout | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (waitMs !== null) timer = setTimeout(resolve, waitMs);
    });
    if (timer !== null) clearTimeout(timer);
  }
}
