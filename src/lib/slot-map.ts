/**
 * A collection with small integer keys that are reused. It is neither a Set nor a Map, because an outgrown table of these
 * points to the next table. Once a table is in the old generation of the heap, all later tables stay alive with what was
 * in them, until that generation is collected. With thousands of members that come and go each second, such tables are
 * what a process collects most.
 */
export class SlotMap<Member extends object> {
  readonly #members: (Member | null)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#members.length - this.#free.length;
  }

  /** @returns the key: an integer below the maximum number of members so far. Free keys are reused */
  add(member: Member): number {
    const place = this.#free.pop() ?? this.#members.length;
    this.#members[place] = member;
    return place;
  }

  at(place: number): Member | null {
    return this.#members[place] ?? null;
  }

  /** Removes a member and frees its key. */
  remove(place: number): void {
    this.#members[place] = null;
    this.#free.push(place);
  }

  /** Visits all members, except those removed before their turn. */
  each(visit: (member: Member) => void): void {
    for (let place = 0; place < this.#members.length; place += 1) {
      const member = this.at(place);
      if (member !== null) visit(member);
    }
  }
}
