/**
 * How fast work in the background may go beside readers: rebuilds, purges, dry runs. It takes what readers leave, as
 * LEDBAT (RFC 6817) takes what a network leaves. Fronts report how long a small read from Redis takes them
 * (`http/operations/front-load.ts`). While that stays near its quiet value, readers do not notice the work, and it gets faster each
 * second. Once it does not, the work goes at half of its rate. All jobs of a process share one pace (`PacedPortions`).
 *
 * A lower rate is first of all smaller portions, and only then pauses. What a reader meets is one portion, and with any
 * pauses the slowest hundredth of readers still meets one.
 */

import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { rebuildsWaitingMax } from '../contract/limits.ts';
import { CachedPromise } from '../lib/shared-promises.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/** Fewer requests per second than this do not count as readers: these are probes. */
const readersFromPerSecond = 1;
/** Readers notice the work when an answer takes longer than this many times its quiet value. */
const slowedMax = 1.4;
/** Cost of a response besides its reads, in ms: below it, a read that takes twice as long is not noticed. */
const answerMs = 0.25;

/** Entities a second: what work begins with, and the least, so that it ends. At the most there is no pause at all. */
export const rates = { first: 1_000, least: 50, most: 10_000 };
const growth = 1.3;
const backOff = 0.5;
/** Work that does not come up to so much of its rate is bounded by something else, and gets no higher rate. */
const usedMin = 0.75;

/** Portions are as many entities as come in this time, within bounds. */
const portionMs = 10;
const portionMin = 10;
/** One portion waits for the owner while it does another. */
export const portionMax = rebuildsWaitingMax / 2;

/** Figures of a front are averages over a second, and up to a second old. */
const figureAgeMs = 2_200;
/** Figures of work that began less than this ago may not show it yet. */
const showsAfterMs = 1_000;
/** A quiet value is the median of this many figures: a command that begins is busy for a second or two. */
const quietFigures = 8;
/**
 * The work pauses this often to let the fronts report quiet values, and no longer than this. Work that goes slowly loses
 * little by it, and finds out sooner that it is others who slow the readers.
 */
const quietEveryMs = { atSpeed: 60_000, slow: 10_000 };
const stillMaxMs = 2 * figureAgeMs;

/** The last report of one front. */
export interface FrontFigures {
  readonly id: string;
  readonly requestsPerSecond: number;
  /** Mean latency of a small read from Redis over a second; null where it is not measured. */
  readonly readWaitMs: number | null;
}

export interface Portion {
  /** How long to wait before it. */
  readonly pauseMs: number;
  readonly entities: number;
}

export class Backpressure {
  #rate = rates.first;
  #isRead = false;
  /** Read latencies of each front in the last seconds without work. */
  readonly #quietMs = new Map<string, readonly number[]>();
  #quietAtMs = Number.NEGATIVE_INFINITY;
  /** Since when the work is paused until quiet values are known; null while it is not paused. */
  #stillSinceMs: number | null = null;
  /** When the current work began, when its last portion was given, and when its next one may begin. */
  #beganMs = Number.NEGATIVE_INFINITY;
  #workedMs = Number.NEGATIVE_INFINITY;
  #nextMs = Number.NEGATIVE_INFINITY;
  /** Entities that were given since the fronts last reported, and when that was. */
  #given = 0;
  #heardMs = Number.NEGATIVE_INFINITY;

  /** Entities a second, over all jobs of the process; null for no limit, because there are no readers. */
  get perSecond(): number | null {
    return this.#isRead ? this.#rate : null;
  }

  /** Takes in what all fronts last reported; to be called each second, also while there is no work. */
  hear(fronts: readonly FrontFigures[], nowMs: number): void {
    const usedPerSecond = (1000 * this.#given) / (nowMs - this.#heardMs);
    this.#given = 0;
    this.#heardMs = nowMs;
    const read = fronts.filter(({ requestsPerSecond }) => requestsPerSecond >= readersFromPerSecond);
    if (read.length === 0 || !this.#isRead) {
      this.#rate = rates.first;
      this.#beganMs = nowMs;
    }
    this.#isRead = read.length > 0;
    this.#forgetAllBut(fronts);
    if (nowMs - this.#workedMs >= figureAgeMs) this.#learn(read, nowMs);
    else if (this.#stillSinceMs === null && nowMs - this.#beganMs >= showsAfterMs) {
      this.#adjust(read, usedPerSecond);
    }
    this.#standStill(read, nowMs);
  }

  /** The next portion of a job; null while the work is paused. Try again in a moment. */
  portion(nowMs: number): Portion | null {
    if (this.#stillSinceMs !== null) return null;
    if (nowMs - this.#workedMs >= figureAgeMs) this.#beganMs = nowMs;
    const isFree = !this.#isRead || this.#rate === rates.most;
    const wanted = isFree ? portionMax : Math.round((this.#rate * portionMs) / 1000);
    const entities = Math.min(portionMax, Math.max(portionMin, wanted));
    const startMs = isFree ? nowMs : Math.max(nowMs, this.#nextMs);
    this.#nextMs = startMs + (1000 * entities) / this.#rate;
    this.#workedMs = startMs;
    this.#given += entities;
    return { pauseMs: startMs - nowMs, entities };
  }

  #forgetAllBut(fronts: readonly FrontFigures[]): void {
    const present = new Set(fronts.map(({ id }) => id));
    for (const id of this.#quietMs.keys()) if (!present.has(id)) this.#quietMs.delete(id);
  }

  #learn(read: readonly FrontFigures[], nowMs: number): void {
    this.#quietAtMs = nowMs;
    for (const { id, readWaitMs } of read) {
      if (readWaitMs === null) continue;
      this.#quietMs.set(id, [...(this.#quietMs.get(id) ?? []), readWaitMs].slice(-quietFigures));
    }
  }

  /** The most slowed front counts. One whose quiet value is not known says nothing. */
  #adjust(read: readonly FrontFigures[], usedPerSecond: number): void {
    const slowed = read.map(({ id, readWaitMs }) => {
      const quiet = this.#quietMs.get(id);
      if (quiet === undefined || readWaitMs === null) return 1;
      return (readWaitMs + answerMs) / (medianOf(quiet) + answerMs);
    });
    // What was not used would take no effect if it were halved.
    if (Math.max(1, ...slowed) > slowedMax) {
      this.#rate = Math.max(rates.least, Math.min(this.#rate, usedPerSecond) * backOff);
    } else if (usedPerSecond >= usedMin * this.#rate) {
      this.#rate = Math.min(rates.most, this.#rate * growth);
    }
  }

  /** Begins to pause where quiet values are missing or old, and ends it when they are there. */
  #standStill(read: readonly FrontFigures[], nowMs: number): void {
    const isMissing = read.some(({ id, readWaitMs }) => readWaitMs !== null && !this.#quietMs.has(id));
    const everyMs = this.#rate < rates.first / 2 ? quietEveryMs.slow : quietEveryMs.atSpeed;
    const isNeeded = read.length > 0 && (isMissing || nowMs - this.#quietAtMs >= everyMs);
    if (!isNeeded) this.#stillSinceMs = null;
    else if (this.#stillSinceMs === null) this.#stillSinceMs = nowMs;
    else if (nowMs - this.#stillSinceMs >= stillMaxMs) {
      this.#stillSinceMs = null;
      this.#quietAtMs = nowMs;
    }
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Fronts report their figures once a second. */
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

  /** Entities a second over all jobs; null for no limit, because there are no readers. */
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
