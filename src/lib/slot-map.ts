/**
 * A collection with small integer keys that are reused. It is not a Set or a Map, because V8 links each outgrown table of these
 * to its successor. Once a table is in the old generation of the heap, all later tables and their contents stay alive until
 * that generation is collected. With thousands of members added and removed per second, these tables would be most of the
 * garbage.
 */
export class SlotMap<Member extends object> {
  readonly #members: (Member | null)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#members.length - this.#free.length;
  }

  /** @returns the key: an integer below the highest number of members so far */
  add(member: Member): number {
    const key = this.#free.pop() ?? this.#members.length;
    this.#members[key] = member;
    return key;
  }

  at(key: number): Member | null {
    return this.#members[key] ?? null;
  }

  /** Removes a member and frees its key. */
  remove(key: number): void {
    this.#members[key] = null;
    this.#free.push(key);
  }

  /** Visits all members, except those removed before their turn. */
  each(visit: (member: Member) => void): void {
    for (let key = 0; key < this.#members.length; key += 1) {
      const member = this.at(key);
      if (member !== null) visit(member);
    }
  }
}

/** Members that are visited at an interval while there are any. */
export class SweptSlots<Member extends object> extends SlotMap<Member> {
  #timer: NodeJS.Timeout | null = null;

  /** @param visit called with each member and the time, on the clock of `performance.now()` */
  constructor(
    private readonly everyMs: number,
    private readonly visit: (member: Member, nowMs: number) => void,
  ) {
    super();
  }

  override add(member: Member): number {
    this.#timer ??= setInterval(() => this.#sweep(), this.everyMs);
    return super.add(member);
  }

  #sweep(): void {
    const nowMs = performance.now();
    this.each((member) => this.visit(member, nowMs));
    // The timer is stopped here and not with the last member: if they are short-lived, there is often none for a short time.
    if (this.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
