/**
 * Limits the number of tenants that run code at a time. Waiting tenants take turns by the processor time that they have used.
 */
import { BoundedCache } from '../lib/bounded-cache.ts';

export class TenantTurns {
  readonly #waiting = new Map<string, () => void>();
  readonly #shares = new FairShares();

  constructor(private free: number) {}

  /** Resolves when it is the tenant's turn. A tenant may wait for only one turn at a time. */
  async begin(tenant: string): Promise<void> {
    if (this.free === 0) await new Promise<void>((enter) => this.#waiting.set(tenant, enter));
    else this.free -= 1;
  }

  /** @param usedMs processor time of the turn */
  end(tenant: string, usedMs: number): void {
    this.#shares.charge(tenant, usedMs);
    if (this.#waiting.size === 0) {
      this.free += 1;
      return;
    }
    const next = this.#shares.next(this.#waiting.keys());
    const enter = this.#waiting.get(next);
    this.#waiting.delete(next);
    enter?.();
  }
}

/** Fair queueing by processor time: the waiting owner that has used the least time goes first. */
export class FairShares {
  readonly #usedMs = new BoundedCache<string, number>({ entriesMax: 10_000 });
  /** Time used by the owner that was chosen last. A new owner starts here, so that idle owners do not accumulate time. */
  #floorMs = 0;

  /** @param waiting at least one name */
  next(waiting: Iterable<string>): string {
    let [next, leastMs] = ['', Number.POSITIVE_INFINITY];
    for (const name of waiting) {
      const usedMs = this.#usedBy(name);
      if (usedMs < leastMs) [next, leastMs] = [name, usedMs];
    }
    this.#floorMs = Math.max(this.#floorMs, leastMs);
    this.#usedMs.set(next, leastMs);
    return next;
  }

  charge(name: string, ms: number): void {
    this.#usedMs.set(name, this.#usedBy(name) + ms);
  }

  #usedBy(name: string): number {
    return Math.max(this.#floorMs, this.#usedMs.get(name) ?? 0);
  }
}
