/**
 * Measures what readers of this front wait for: small reads of Redis, one each 20 ms while somebody asks anything. A read
 * waits for a core of Redis, for the scripts before it, and for a core of the front, as the read of an answer does. The
 * answers themselves would tell less: one that is expensive is slow on a quiet machine too, and few are not an average.
 * Rebuilds go by it (`jobs/backpressure.ts`).
 */
import { performance } from 'node:perf_hooks';

const everyMs = 20;

export class ReadWait {
  #sumMs = 0;
  #count = 0;
  #sentMs: number | null = null;
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Measures nothing before `follow`. @param read a small read, of another partition each time */
  constructor(private readonly read: (turn: number) => Promise<unknown>) {}

  /** @param isAsked whether there are requests. To be told again and again */
  follow(isAsked: boolean): void {
    if (!isAsked) this.close();
    else
      this.#timer ??= setInterval(() => {
        // A Redis that hangs gets one read and not one more for each tick.
        if (this.#sentMs === null) void this.#measure(this.#turn++);
      }, everyMs);
  }

  /** Mean of the reads since the last call, in ms; null when there was none. */
  take(): number | null {
    const underWayMs = this.#sentMs === null ? 0 : performance.now() - this.#sentMs;
    if (this.#count === 0) return underWayMs > everyMs ? underWayMs : null;
    const meanMs = this.#sumMs / this.#count;
    this.#sumMs = 0;
    this.#count = 0;
    return meanMs;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #measure(turn: number): Promise<void> {
    const sentMs = performance.now();
    this.#sentMs = sentMs;
    try {
      await this.read(turn);
      this.#sumMs += performance.now() - sentMs;
      this.#count += 1;
    } catch {
      // While Redis is away there are no answers whose time could be noticed.
    }
    this.#sentMs = null;
  }
}
