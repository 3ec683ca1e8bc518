/**
 * The pending rebuilds of one partition: views and items that wait for a rebuild. Pure but for the clock it is given.
 *
 * Invalidations of one dependent merge while they wait. After a rebuild a dependent rests for a multiple of the time that
 * it took. So a list whose entries change all the time costs a bounded share of the worker. Tenants take turns.
 */

import type { EntityRef } from '../../contract/ids.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';

/** A rest of three times the work bounds a dependent's rebuilds to a quarter of one worker. */
const restFactor = 3;
const restMaxMs = 1500;
/** Assumed cost of the first of a kind. A dependent that looks through a whole type takes a hundred times as long as most. */
const costGuessMs = 10;
const kindsMax = 10_000;
/** Dependents that are remembered before those that have rested are forgotten. */
const restsRememberedMax = 10_000;
/** The most dependents of one portion, however quick: their outputs are stored in one commit. */
const takenMax = 500;

export interface Waiting {
  readonly tenant: string;
  readonly dependent: string;
  /** First and last invalidation that ask for it. */
  first: number;
  last: number;
  /** The entity whose change causes it, the last one; null if unknown. */
  cause: EntityRef | null;
}

interface History {
  readonly notBeforeMs: number;
  readonly costMs: number;
}

export class RebuildQueue {
  /** Tenant -> dependent -> what waits; tenants in the order of their turns. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** Kept at least while a dependent rests. */
  readonly #history = new Map<string, History>();
  /** The last cost of each kind. Without it a portion could be filled with dependents that all take long. */
  readonly #kindCostsMs = new BoundedCache<string, number>({ entriesMax: kindsMax });

  get size(): number {
    let size = 0;
    for (const dependents of this.#waiting.values()) size += dependents.size;
    return size;
  }

  /** Requests a rebuild. `first` and `last` are equal for a new invalidation. Must be called in the order of `first`. */
  add(
    tenant: string,
    dependent: string,
    first: number,
    last: number,
    cause: EntityRef | null = null,
  ): Waiting {
    const dependents = this.#waiting.get(tenant) ?? new Map<string, Waiting>();
    this.#waiting.set(tenant, dependents);
    const known = dependents.get(dependent);
    if (known === undefined) {
      const added = { tenant, dependent, first, last, cause };
      dependents.set(dependent, added);
      return added;
    }
    known.first = Math.min(known.first, first);
    known.last = Math.max(known.last, last);
    known.cause = cause ?? known.cause;
    return known;
  }

  remove(tenant: string, dependent: string): void {
    const dependents = this.#waiting.get(tenant);
    dependents?.delete(dependent);
    if (dependents?.size === 0) this.#waiting.delete(tenant);
  }

  /**
   * Takes dependents of one tenant whose rest is over, for about `budgetMs` of expected work. They leave the queue: the
   * caller's next commit contains their rebuilds. @param mayTake tenants whose turn it may be
   */
  take(nowMs: number, budgetMs: number, mayTake: (tenant: string) => boolean = () => true): Waiting[] {
    for (const [tenant, dependents] of this.#waiting) {
      if (!mayTake(tenant)) continue;
      const taken = this.#takeOf(dependents, nowMs, budgetMs);
      if (taken.length === 0) continue;
      this.#waiting.delete(tenant);
      if (dependents.size > 0) this.#waiting.set(tenant, dependents);
      return taken;
    }
    return [];
  }

  #takeOf(dependents: Map<string, Waiting>, nowMs: number, budgetMs: number): Waiting[] {
    const taken: Waiting[] = [];
    let expectedMs = 0;
    for (const waiting of dependents.values()) {
      const history = this.#history.get(waiting.dependent);
      if (history !== undefined && history.notBeforeMs > nowMs) continue;
      const costMs = history?.costMs ?? this.#kindCostsMs.get(kindOf(waiting.dependent)) ?? costGuessMs;
      if (taken.length === takenMax || (taken.length > 0 && expectedMs + costMs > budgetMs)) break;
      expectedMs += costMs;
      taken.push(waiting);
    }
    for (const { dependent } of taken) dependents.delete(dependent);
    return taken;
  }

  /** Notes the cost of a rebuild. It decides how long the dependents rest. */
  done(dependents: readonly string[], nowMs: number, tookMs: number): void {
    const costMs = tookMs / Math.max(1, dependents.length);
    const restMs = Math.min(restMaxMs, costMs * restFactor);
    for (const dependent of dependents) {
      this.#history.set(dependent, { notBeforeMs: nowMs + restMs, costMs });
      this.#kindCostsMs.set(kindOf(dependent), costMs);
    }
    this.#forgetRested(nowMs);
  }

  #forgetRested(nowMs: number): void {
    if (this.#history.size < restsRememberedMax) return;
    for (const [dependent, { notBeforeMs }] of this.#history) {
      if (notBeforeMs < nowMs) this.#history.delete(dependent);
    }
  }

  /** Milliseconds until a dependent may be taken: 0 now, null when nothing waits. */
  readyInMs(nowMs: number, mayTake: (tenant: string) => boolean = () => true): number | null {
    let soonestMs: number | null = null;
    for (const [tenant, dependents] of this.#waiting) {
      if (!mayTake(tenant)) continue;
      for (const { dependent } of dependents.values()) {
        const waitMs = Math.max(0, (this.#history.get(dependent)?.notBeforeMs ?? 0) - nowMs);
        if (waitMs === 0) return 0;
        soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
      }
    }
    return soonestMs;
  }

  /** Tenant -> first invalidation that waits. They arrive in ascending order, so a tenant's first dependent has it. */
  firstInvalidations(): Map<string, number> {
    const first = new Map<string, number>();
    for (const [tenant, dependents] of this.#waiting) {
      for (const waiting of dependents.values()) {
        first.set(tenant, waiting.first);
        break;
      }
    }
    return first;
  }
}

/**
 * The kind of a dependent: its schema or its index. Outputs of one kind cost about as much for every entity. See
 * `formatDependent`.
 */
export function kindOf(dependent: string): string {
  let end = -1;
  for (let bars = 0; bars < 3; bars += 1) {
    end = dependent.indexOf('|', end + 1);
    if (end < 0) return dependent;
  }
  return dependent.slice(0, end);
}
