/**
 * Views and items of one partition that wait for a rebuild. Pure but for the clock it is given.
 *
 * Marks of one member merge while they wait. A member that was just rebuilt rests before its next turn for a multiple
 * of the time its last rebuild took, so that a list whose entries change all the time costs a bounded share of the
 * worker. Tenants take turns.
 */

/** A rest of three times the work bounds a member's rebuilds to a quarter of one worker. */
const restFactor = 3;
const restMaxMs = 1500;
/** Of the first of a kind: one that looks through a whole type takes a hundred times as long as most. */
const costGuessMs = 10;
const kindsMax = 10_000;
/** However quick they are: what is made of them is stored in one commit. */
const takenMax = 500;

export interface Waiting {
  readonly tenant: string;
  readonly member: string;
  /** First and last mark that ask for it. */
  first: number;
  last: number;
}

interface History {
  readonly notBeforeMs: number;
  readonly costMs: number;
}

export class RebuildQueue {
  /** Tenant -> member -> marks; tenants in the order of their turns. */
  readonly #waiting = new Map<string, Map<string, Waiting>>();
  /** Kept only while a member rests. */
  readonly #history = new Map<string, History>();
  /** What one of a kind cost last: a portion must not be filled with what takes long before that is known. */
  readonly #kindCostsMs = new Map<string, number>();

  get size(): number {
    let size = 0;
    for (const members of this.#waiting.values()) size += members.size;
    return size;
  }

  /** Asks for a rebuild; `first` and `last` are equal for a new mark. Calls come in the order of `first`. */
  add(tenant: string, member: string, first: number, last: number): Waiting {
    const members = this.#waiting.get(tenant) ?? new Map<string, Waiting>();
    this.#waiting.set(tenant, members);
    const known = members.get(member);
    if (known === undefined) {
      const added = { tenant, member, first, last };
      members.set(member, added);
      return added;
    }
    known.first = Math.min(known.first, first);
    known.last = Math.max(known.last, last);
    return known;
  }

  /**
   * Takes members whose rest is over, of one tenant, whose expected work is about `budgetMs`. They are out of the
   * queue: the caller's next commit has them done.
   */
  take(nowMs: number, budgetMs: number): Waiting[] {
    for (const [tenant, members] of this.#waiting) {
      const taken = this.#takeOf(members, nowMs, budgetMs);
      if (taken.length === 0) continue;
      this.#waiting.delete(tenant);
      if (members.size > 0) this.#waiting.set(tenant, members);
      return taken;
    }
    return [];
  }

  #takeOf(members: Map<string, Waiting>, nowMs: number, budgetMs: number): Waiting[] {
    const taken: Waiting[] = [];
    let expectedMs = 0;
    for (const waiting of members.values()) {
      const history = this.#history.get(waiting.member);
      if (history !== undefined && history.notBeforeMs > nowMs) continue;
      const costMs = history?.costMs ?? this.#kindCostsMs.get(kindOf(waiting.member)) ?? costGuessMs;
      if (taken.length === takenMax || (taken.length > 0 && expectedMs + costMs > budgetMs)) break;
      expectedMs += costMs;
      taken.push(waiting);
    }
    for (const { member } of taken) members.delete(member);
    return taken;
  }

  /** Notes what the rebuild of members cost, which decides how long they rest. */
  done(members: readonly string[], nowMs: number, tookMs: number): void {
    const costMs = tookMs / Math.max(1, members.length);
    const restMs = Math.min(restMaxMs, costMs * restFactor);
    if (this.#kindCostsMs.size > kindsMax) this.#kindCostsMs.clear();
    for (const member of members) {
      this.#history.set(member, { notBeforeMs: nowMs + restMs, costMs });
      this.#kindCostsMs.set(kindOf(member), costMs);
    }
    this.#forgetRested(nowMs);
  }

  #forgetRested(nowMs: number): void {
    if (this.#history.size < 10_000) return;
    for (const [member, { notBeforeMs }] of this.#history) {
      if (notBeforeMs < nowMs) this.#history.delete(member);
    }
  }

  /** Milliseconds until a member may be taken: 0 now, null when nothing waits. */
  readyInMs(nowMs: number): number | null {
    let soonestMs: number | null = null;
    for (const members of this.#waiting.values()) {
      for (const { member } of members.values()) {
        const waitMs = Math.max(0, (this.#history.get(member)?.notBeforeMs ?? 0) - nowMs);
        if (waitMs === 0) return 0;
        soonestMs = Math.min(soonestMs ?? waitMs, waitMs);
      }
    }
    return soonestMs;
  }

  /** Tenant -> first mark that waits. Marks come in rising order, so a tenant's first member has it. */
  firstMarks(): Map<string, number> {
    const first = new Map<string, number>();
    for (const [tenant, members] of this.#waiting) {
      for (const waiting of members.values()) {
        first.set(tenant, waiting.first);
        break;
      }
    }
    return first;
  }
}

/** Views of one schema, items of one index: those of other entities cost about as much. See `formatDependent`. */
function kindOf(member: string): string {
  let end = -1;
  for (let bars = 0; bars < 3; bars += 1) {
    end = member.indexOf('|', end + 1);
    if (end < 0) return member;
  }
  return member.slice(0, end);
}
