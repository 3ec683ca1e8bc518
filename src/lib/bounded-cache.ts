export interface CacheLimits<Value> {
  readonly entriesMax: number;
  /** Of all entries together, in the unit of `weigh`; absent: entries alone are counted. */
  readonly weightMax?: number;
  /** What an entry takes of `weightMax`, in bytes or whatever it counts. It must be the same each time for one value. */
  readonly weigh?: (value: Value) => number;
  /** Told of each entry that goes: dropped for room, replaced, deleted, or cleared. */
  readonly onLeave?: (value: Value) => void;
}

/**
 * What may be forgotten: a map that holds at most so many entries, or so much. The one whose last use is longest ago goes
 * first, so a flood of keys that come once cannot empty it of what is used again and again, as clearing it would.
 */
export class BoundedCache<Key, Value> {
  /** In the order of their last use: a Map keeps the order in which keys were set. */
  readonly #entries = new Map<Key, Value>();
  /**
   * Stands before the entry that goes next. One for all: a new one would walk over every hole that deleted entries have left
   * at the front of the Map, some tens of thousands in a large cache.
   */
  #oldest = this.#entries.keys();
  #weight = 0;

  constructor(private readonly limits: CacheLimits<Value>) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Of all entries together; 0 without `weigh`. */
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

  /** What it has passed was dropped, so the next one is the oldest. */
  #dropOldest(): void {
    let next = this.#oldest.next();
    if (next.done === true) {
      this.#oldest = this.#entries.keys();
      next = this.#oldest.next();
    }
    if (next.done !== true) this.delete(next.value);
  }
}
