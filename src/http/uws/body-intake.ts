import { ProblemError, problems } from '../../contract/errors.ts';
import type { FrontLimits } from '../../contract/front-limits.ts';
import { unpackingAtOnceMax } from '../../contract/limits.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { SlotMap } from '../../lib/slot-map.ts';

const sweepMs = 1000;

/** A body that is being received. */
export interface WatchedBody {
  /** Called once a second. */
  checkIdle(nowMs: number): void;
}

/** All request bodies that a front is receiving or processing. */
export class BodyIntake {
  readonly #receiving = new SlotMap<WatchedBody>();
  /** Limits how many pieces of compressed bodies are decompressed at a time. */
  readonly decompressionTurns = new Semaphore(unpackingAtOnceMax);
  #heldBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(readonly limits: Pick<FrontLimits, 'bodiesInFlightBytes' | 'bodyIdleMs'>) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @throws ProblemError `unavailable` if the budget is used up */
  take(bytes: number): void {
    if (this.#heldBytes + bytes > this.limits.bodiesInFlightBytes)
      throw new ProblemError(problems.unavailable);
    this.#heldBytes += bytes;
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Watches a body that is being received. @returns its slot, for `unwatch` */
  watch(body: WatchedBody): number {
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return this.#receiving.add(body);
  }

  unwatch(slot: number): void {
    this.#receiving.remove(slot);
  }

  #sweep(): void {
    const now = performance.now();
    this.#receiving.each((body) => body.checkIdle(now));
    // The timer is stopped here and not when the last body ends: with small requests there is often no body for a short time.
    if (this.#receiving.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
