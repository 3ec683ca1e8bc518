export interface CacheLimits<Value> {
  readonly entriesMax: number;
  /** Weight of all entries together, in the unit of `weigh`; absent: only entries are counted. */
  readonly weightMax?: number;
  /** Weight of an entry, in bytes or another unit. It must be the same each time for one value. */
  readonly weigh?: (value: Value) => number;
  /** Told of each entry that goes: dropped for room, replaced, deleted, or cleared. */
  readonly onLeave?: (value: Value) => void;
}

/**
 * A map with a bounded number of entries, and a bounded weight. The entry whose last use is longest ago is dropped first.
 * So a flood of keys that come once does not push out entries that are used again and again, as clearing the map would.
 */
export class BoundedCache<Key, Value> {
  /** In the order of their last use: a Map keeps the order in which keys were set. */
  readonly #entries = new Map<Key, Value>();
  /**
   * An iterator that stands before the entry to drop next. It is kept, because a new one would walk over every hole that
   * deleted entries have left at the front of the Map: some tens of thousands in a large cache.
   */
  #oldest = this.#entries.keys();
  #weight = 0;

  constructor(private readonly limits: CacheLimits<Value>) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Weight of all entries together; 0 without `weigh`. */
  get weight(): number {
    return this.#weight;
  }

  /** @returns undefined when nothing is kept; a hit makes the entry the last to go */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Keeps a value, unless it alone weighs more than the whole cache may. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weightOf(value);
    if (weight > this.#weightMax) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#isOver) this.#dropOldest();
  }

  /** The kept value, else what `make` gives, which is kept. */
  getOrMake(key: Key, make: () => Value): Value {
    const kept = this.get(key);
    if (kept !== undefined) return kept;
    const value = make();
    this.set(key, value);
    return value;
  }

  delete(key: Key): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#entries.delete(key);
    this.#weight -= this.#weightOf(value);
    this.limits.onLeave?.(value);
    return true;
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  get #weightMax(): number {
    return this.limits.weightMax ?? Number.POSITIVE_INFINITY;
  }

  get #isOver(): boolean {
    return this.#entries.size > this.limits.entriesMax || this.#weight > this.#weightMax;
  }

  #weightOf(value: Value): number {
    return this.limits.weigh?.(value) ?? 0;
  }

  /** The iterator has passed only entries that are gone from their place, so its next one is the oldest. */
  #dropOldest(): void {
    let next = this.#oldest.next();
    if (next.done === true) {
      this.#oldest = this.#entries.keys();
      next = this.#oldest.next();
    }
    if (next.done !== true) this.delete(next.value);
  }
}
