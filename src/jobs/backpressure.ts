/**
 * Limits the rate of background work (rebuilds, purges, dry runs) so that readers do not notice it. It uses spare capacity, as
 * LEDBAT (RFC 6817) does in a network. Fronts report the latency of a small read from Redis (`http/operations/front-load.ts`).
 * While it stays near its baseline, the rate grows each second; otherwise it is halved. All jobs of a process share one rate
 * (`PacedPortions`).
 *
 * A lower rate first means smaller portions, and only then pauses: a reader waits for at most one portion, and however long the
 * pauses are, the slowest percent of readers still waits for one.
 */

import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { rebuildsWaitingMax } from '../contract/limits.ts';
import { CachedPromise } from '../lib/shared-promises.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import type { Store } from '../store/store.ts';

/** Fewer requests per second than this are health checks, not readers. */
const readersFromPerSecond = 1;
/** Readers notice the work if a response takes more than this many times its baseline. */
const slowedMax = 1.4;
/** Cost of a response besides its reads, in ms. A read that is much faster than this can double without being noticed. */
const answerMs = 0.25;

/**
 * Rates in entities per second: at the start, and the minimum, with which work still ends. There are no pauses at the maximum.
 */
export const rates = { initial: 1_000, min: 50, max: 10_000 };
const growth = 1.3;
const backOff = 0.5;
/** Work that uses less than this share of its rate is limited by something else, so the rate does not grow. */
const usedMin = 0.75;

/** A portion has the entities of this time at the current rate, within bounds. */
const portionMs = 10;
const portionMin = 10;
/** One portion waits for the owner while it processes another. */
export const portionMax = rebuildsWaitingMax / 2;

/** The reports of a front are averages over a second, up to a second old. */
const reportAgeMs = 2_200;
/** Reports may not include the effect of work that began less than this ago. */
const showsAfterMs = 1_000;
/** A baseline is the median of this many reports, because a starting command causes load for a second or two. */
const baselineReports = 8;
/**
 * How often work pauses so that the fronts can report baselines, and for how long at most. Slow work loses little by pausing
 * more often, and detects sooner that something else slows down the readers.
 */
const baselineEveryMs = { atSpeed: 60_000, slow: 10_000 };
const pauseMaxMs = 2 * reportAgeMs;

/** The last report of one front. */
export interface FrontReport {
  readonly id: string;
  readonly requestsPerSecond: number;
  /** Mean latency of a small read from Redis over a second; null if it is not measured. */
  readonly readWaitMs: number | null;
}

export interface Portion {
  /** How long to wait before the portion. */
  readonly pauseMs: number;
  readonly entities: number;
}

export class Backpressure {
  #rate = rates.initial;
  #hasReaders = false;
  /** Baseline: read latencies of each front in the last seconds without work. */
  readonly #baselinesMs = new Map<string, readonly number[]>();
  #baselineAtMs = Number.NEGATIVE_INFINITY;
  /** Since when work is paused to measure baselines; null while it is not paused. */
  #pausedSinceMs: number | null = null;
  /** When the current work began, when its last portion begins, and when its next one may begin. */
  #startedMs = Number.NEGATIVE_INFINITY;
  #workedMs = Number.NEGATIVE_INFINITY;
  #nextMs = Number.NEGATIVE_INFINITY;
  /** Entities in portions since the last report of the fronts, and the time of that report. */
  #given = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  /** Entities per second, over all jobs of the process; null for no limit, because there are no readers. */
  get perSecond(): number | null {
    return this.#hasReaders ? this.#rate : null;
  }

  /** Adjusts the rate to the latest reports of all fronts. Must be called each second, also while there is no work. */
  update(fronts: readonly FrontReport[], nowMs: number): void {
    const usedPerSecond = (1000 * this.#given) / (nowMs - this.#reportedMs);
    this.#given = 0;
    this.#reportedMs = nowMs;
    const read = fronts.filter(({ requestsPerSecond }) => requestsPerSecond >= readersFromPerSecond);
    if (read.length === 0 || !this.#hasReaders) {
      this.#rate = rates.initial;
      this.#startedMs = nowMs;
    }
    this.#hasReaders = read.length > 0;
    this.#forgetAllBut(fronts);
    if (nowMs - this.#workedMs >= reportAgeMs) this.#learn(read, nowMs);
    else if (this.#pausedSinceMs === null && nowMs - this.#startedMs >= showsAfterMs) {
      this.#adjust(read, usedPerSecond);
    }
    this.#updatePause(read, nowMs);
  }

  /** The next portion of a job; null while work is paused: try again after `pausedPollMs`. */
  portion(nowMs: number): Portion | null {
    if (this.#pausedSinceMs !== null) return null;
    if (nowMs - this.#workedMs >= reportAgeMs) this.#startedMs = nowMs;
    const isFree = !this.#hasReaders || this.#rate === rates.max;
    const wanted = isFree ? portionMax : Math.round((this.#rate * portionMs) / 1000);
    const entities = Math.min(portionMax, Math.max(portionMin, wanted));
    const startMs = isFree ? nowMs : Math.max(nowMs, this.#nextMs);
    this.#nextMs = startMs + (1000 * entities) / this.#rate;
    this.#workedMs = startMs;
    this.#given += entities;
    return { pauseMs: startMs - nowMs, entities };
  }

  #forgetAllBut(fronts: readonly FrontReport[]): void {
    const present = new Set(fronts.map(({ id }) => id));
    for (const id of this.#baselinesMs.keys()) if (!present.has(id)) this.#baselinesMs.delete(id);
  }

  #learn(read: readonly FrontReport[], nowMs: number): void {
    this.#baselineAtMs = nowMs;
    for (const { id, readWaitMs } of read) {
      if (readWaitMs === null) continue;
      this.#baselinesMs.set(id, [...(this.#baselinesMs.get(id) ?? []), readWaitMs].slice(-baselineReports));
    }
  }

  /** The front with the largest slowdown counts. Fronts without a baseline are ignored. */
  #adjust(read: readonly FrontReport[], usedPerSecond: number): void {
    const slowed = read.map(({ id, readWaitMs }) => {
      const baseline = this.#baselinesMs.get(id);
      if (baseline === undefined || readWaitMs === null) return 1;
      return (readWaitMs + answerMs) / (medianOf(baseline) + answerMs);
    });
    // The rate in use is halved, because halving an unused rate would have no effect.
    if (Math.max(1, ...slowed) > slowedMax) {
      this.#rate = Math.max(rates.min, Math.min(this.#rate, usedPerSecond) * backOff);
    } else if (usedPerSecond >= usedMin * this.#rate) {
      this.#rate = Math.min(rates.max, this.#rate * growth);
    }
  }

  /** Starts a pause if baselines are missing or old, and ends it when they are known. */
  #updatePause(read: readonly FrontReport[], nowMs: number): void {
    const isMissing = read.some(({ id, readWaitMs }) => readWaitMs !== null && !this.#baselinesMs.has(id));
    const everyMs = this.#rate < rates.initial / 2 ? baselineEveryMs.slow : baselineEveryMs.atSpeed;
    const isNeeded = read.length > 0 && (isMissing || nowMs - this.#baselineAtMs >= everyMs);
    if (!isNeeded) this.#pausedSinceMs = null;
    else if (this.#pausedSinceMs === null) this.#pausedSinceMs = nowMs;
    else if (nowMs - this.#pausedSinceMs >= pauseMaxMs) {
      this.#pausedSinceMs = null;
      this.#baselineAtMs = nowMs;
    }
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Fronts report once a second. */
export const frontReportsEveryMs = 1_000;
const pausedPollMs = 100;

export class PacedPortions {
  readonly #pace = new Backpressure();
  readonly #updating: CachedPromise<void>;

  constructor(store: Store) {
    this.#updating = new CachedPromise(async () => {
      this.#pace.update(reportsOf(await liveProcesses(store)), performance.now());
    }, frontReportsEveryMs);
  }

  /** Entities per second over all jobs; null for no limit, because there are no readers. */
  get perSecond(): number | null {
    return this.#pace.perSecond;
  }

  /**
   * Reads the latest reports of the fronts. Must be called each second while no job requests portions.
   * @throws StoreUnavailableError
   */
  update(): Promise<void> {
    return this.#updating.get();
  }

  /**
   * Waits until the next portion may begin.
   * @returns its number of entities
   * @throws AbortError, StoreUnavailableError
   */
  async next(signal: AbortSignal): Promise<number> {
    for (;;) {
      await this.update();
      const portion = this.#pace.portion(performance.now());
      if (portion !== null && portion.pauseMs <= 0) return portion.entities;
      await setTimeout(portion?.pauseMs ?? pausedPollMs, undefined, { signal });
      if (portion !== null) return portion.entities;
    }
  }
}

function reportsOf(processes: Awaited<ReturnType<typeof liveProcesses>>): FrontReport[] {
  return processes
    .filter(({ role }) => role === 'web')
    .map(({ id, requestsPerSecond = 0, readWaitMs = null }) => ({ id, requestsPerSecond, readWaitMs }));
}
