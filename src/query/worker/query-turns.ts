/** Whose turn it is: tenants one after the other, and who takes long behind who does not. */

/** Requests whose work so far is kept, each with memory of its own and shards that must not change meanwhile. */
const keptMax = 8;

export interface TenantsRun {
  readonly tenant: string;
}

export class QueryTurns<Run extends TenantsRun> {
  /** Requests that were not begun, by tenant; the first tenant is the next one. */
  readonly #fresh = new Map<string, Run[]>();
  /** Requests that paused, at most one of each tenant; the first one is the next. */
  readonly #kept: Run[] = [];
  /** Requests that took longer than a slice and were given up for now: they begin again. */
  #parked: Run[] = [];

  get isEmpty(): boolean {
    return this.#fresh.size === 0 && !this.hasLong;
  }

  get hasLong(): boolean {
    return this.#kept.length > 0 || this.#parked.length > 0;
  }

  add(run: Run): void {
    const ofTenant = this.#fresh.get(run.tenant);
    if (ofTenant === undefined) this.#fresh.set(run.tenant, [run]);
    else ofTenant.push(run);
  }

  /** Takes a request that was not begun. */
  takeFresh(): Run | null {
    for (const [tenant, runs] of this.#fresh) {
      const run = runs.shift();
      if (runs.length === 0 || this.#fresh.size > 1) this.#fresh.delete(tenant);
      if (runs.length > 0) this.#fresh.set(tenant, runs);
      if (run !== undefined) return run;
    }
    return null;
  }

  /** A request is not done after a slice. @returns whether what was done is to be kept; else it begins again in its turn */
  pause(run: Run): boolean {
    if (this.#kept.includes(run)) return true;
    const isKept = this.#hasRoomFor(run);
    if (isKept) this.#kept.push(run);
    else this.#parked.push(run);
    return isKept;
  }

  end(run: Run): void {
    const at = this.#kept.indexOf(run);
    if (at >= 0) this.#kept.splice(at, 1);
  }

  /** The next request that takes long: one that can begin again now, or one that goes on. */
  takeLong(): Run | null {
    const parkedAt = this.#parked.findIndex((run) => this.#hasRoomFor(run));
    if (parkedAt >= 0) return this.#parked.splice(parkedAt, 1)[0] ?? null;
    const next = this.#kept.shift();
    if (next !== undefined) this.#kept.push(next);
    return next ?? null;
  }

  /** Takes those out that nobody waits for any more. */
  dropParked(isGone: (run: Run) => boolean): void {
    this.#parked = this.#parked.filter((run) => !isGone(run));
  }

  /** Takes out everything that takes long. */
  takeAllLong(): Run[] {
    const all = [...this.#kept, ...this.#parked];
    this.#kept.length = 0;
    this.#parked = [];
    return all;
  }

  #hasRoomFor({ tenant }: Run): boolean {
    return this.#kept.length < keptMax && this.#kept.every((kept) => kept.tenant !== tenant);
  }
}
