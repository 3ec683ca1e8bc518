/** Schedules requests. Tenants take turns, and long-running requests come after all others. */

/** Maximum number of paused requests that keep their work. Each uses memory, and pins shards. */
const keptMax = 8;

export interface TenantRequest {
  readonly tenant: string;
  /** True for a further round of a query that was answered in part. */
  readonly asksFurther: boolean;
}

export class QueryTurns<Request extends TenantRequest> {
  /** Requests that have not begun, by tenant. The first tenant is next. */
  readonly #fresh = new Map<string, Request[]>();
  /** Paused requests, at most one per tenant. The first one is next. */
  readonly #kept: Request[] = [];
  /** Requests that took longer than a slice and whose work was dropped. They start again. */
  #parked: Request[] = [];

  get isEmpty(): boolean {
    return this.#fresh.size === 0 && !this.hasLong;
  }

  get hasLong(): boolean {
    return this.#kept.length > 0 || this.hasParked;
  }

  get hasParked(): boolean {
    return this.#parked.length > 0;
  }

  add(request: Request): void {
    const ofTenant = this.#fresh.get(request.tenant);
    if (ofTenant === undefined) this.#fresh.set(request.tenant, [request]);
    else ofTenant.push(request);
  }

  /** Takes a request that has not begun. */
  takeFresh(): Request | null {
    for (const [tenant, requests] of this.#fresh) {
      const request = requests.shift();
      if (requests.length === 0 || this.#fresh.size > 1) this.#fresh.delete(tenant);
      if (requests.length > 0) this.#fresh.set(tenant, requests);
      if (request !== undefined) return request;
    }
    return null;
  }

  /**
   * Takes back a request that is not done after a slice.
   * @returns whether its work is kept; otherwise it starts again
   */
  pause(request: Request): boolean {
    if (this.#kept.includes(request)) return true;
    const isKept = this.#hasRoomFor(request);
    if (isKept) this.#kept.push(request);
    else this.#parked.push(request);
    return isKept;
  }

  end(request: Request): void {
    const at = this.#kept.indexOf(request);
    if (at >= 0) this.#kept.splice(at, 1);
  }

  /**
   * The next long-running request: a parked one that can start again now, or else a paused one. Further rounds come before
   * first ones: if many queries all ran their first round before any ran its second, all of them would end at the same time,
   * too late.
   */
  takeLong(): Request | null {
    const ready = this.#parked.filter((request) => this.#hasRoomFor(request));
    const [first = null] = ready;
    const chosen = ready.find(({ asksFurther }) => asksFurther) ?? first;
    if (chosen !== null) {
      this.#parked = this.#parked.filter((request) => request !== chosen);
      return chosen;
    }
    const next = this.#kept.shift();
    if (next !== undefined) this.#kept.push(next);
    return next ?? null;
  }

  /** Removes parked requests whose front no longer waits for the reply. */
  dropParked(isGone: (request: Request) => boolean): void {
    this.#parked = this.#parked.filter((request) => !isGone(request));
  }

  /** Removes and returns all long-running requests. */
  takeAllLong(): Request[] {
    const all = [...this.#kept, ...this.#parked];
    this.#kept.length = 0;
    this.#parked = [];
    return all;
  }

  #hasRoomFor({ tenant }: Request): boolean {
    return this.#kept.length < keptMax && this.#kept.every((kept) => kept.tenant !== tenant);
  }
}
