/** A partition's place in a line in which all partitions of a worker take turns: that for rebuilds, and that for scheduled moments. */
import { performance } from 'node:perf_hooks';
import type { Semaphore } from '../lib/semaphore.ts';

export class SharedTurn {
  /** The place in the line, from its request until the turn is over. */
  #place: Promise<void> | null = null;
  #release: (() => void) | null = null;
  #waiting: Promise<void> | null = null;
  #isEnded = false;
  #wake = () => {};

  /** @param readyInMs milliseconds until the work may begin: 0 now, null when none waits */
  constructor(
    private readonly turns: Semaphore,
    private readonly readyInMs: (nowMs: number) => number | null,
    private readonly onCome: () => void,
  ) {}

  get hasCome(): boolean {
    return this.#release !== null;
  }

  /** Waits for the turn, unless it does so already; `onCome` is called when it is there. */
  await(): void {
    this.#waiting ??= this.#come().then(() => {
      this.#waiting = null;
      this.onCome();
    });
  }

  /** Looks again whether work is ready, because more of it waits. */
  wake(): void {
    this.#wake();
  }

  /** The turn that came is over. */
  over(): void {
    this.#place = null;
    this.#release?.();
    this.#release = null;
  }

  /** A turn that comes later goes to others immediately. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
    void this.#place?.then(() => this.#release?.());
  }

  /** Asks for a place in the line once work is ready, not before. */
  async #come(): Promise<void> {
    for (;;) {
      const waitMs = this.readyInMs(performance.now());
      if (waitMs === 0) break;
      await this.#sleep(waitMs);
      // A turn that is asked for after the end would never be given back.
      if (this.#isEnded) return;
    }
    this.#place ??= this.turns.acquire().then((release) => {
      this.#release = release;
    });
    await this.#place;
  }

  /** Waits until `wake` is called, or the time is over; null: no time. */
  async #sleep(waitMs: number | null): Promise<void> {
    let timer: NodeJS.Timeout | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (waitMs !== null) timer = setTimeout(resolve, waitMs);
    });
    if (timer !== null) clearTimeout(timer);
  }
}
