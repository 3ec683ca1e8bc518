/**
 * The pending rebuilds of one partition: views and items that wait for a rebuild. Pure; callers pass the time.
 *
 * Invalidations of the same dependent are merged while they wait. After a rebuild, a dependent rests for a multiple of the time
 * that it took, so a list whose entries change constantly takes a bounded share of the worker. Tenants take turns.
 */

import type { EntityRef } from '../../contract/ids.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';

/** Resting three times as long as the work limits the rebuilds of a dependent to a quarter of one worker. */
const restFactor = 3;
const restMaxMs = 1500;
/** Assumed cost of the first rebuild of a kind. A dependent that scans a whole type takes a hundred times as long as most. */
const costGuessMs = 10;
const kindsMax = 10_000;
/** Maximum number of dependents in the history before rested ones are removed. */
const restsRememberedMax = 10_000;
/** Maximum number of dependents in a portion, because their outputs are stored in one commit. */
const takenMax = 500;

export interface Waiting {
  readonly tenant: string;
  readonly dependent: string;
  /** Sequences of the first and last invalidation that request it. */
  first: number;
  last: number;
  /** The last entity whose change caused it; null if unknown. */
  cause: EntityRef | null;
}

interface History {
  readonly notBeforeMs: number;
  readonly costMs: number;
}

export class RebuildQueue {
  /** Tenant -> dependent -> waiting rebuild; tenants in the order of their turns. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** Entries are kept at least while the dependent rests. */
  readonly #history = new Map<string, History>();
  /** The last cost of each kind. Without it, a portion could consist of dependents that all take long. */
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
   * caller's next commit contains their rebuilds.
   * @param mayTake returns true for tenants that may have a turn
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

  /** Records the cost of a rebuild, which determines how long the dependents rest. */
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

  /** Milliseconds until a dependent may be taken: 0 for now, null if none waits. */
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

  /**
   * Tenant -> sequence of the first waiting invalidation. They arrive in ascending order, so it belongs to the tenant's first
   * dependent.
   */
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
 * The kind of a dependent: its schema or index. Outputs of the same kind have similar costs for all entities. See
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
