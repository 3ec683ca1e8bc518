export interface CacheLimits<Value> {
  readonly entriesMax: number;
  /** Maximum total weight, in the unit of `weigh`; absent to only count entries. */
  readonly weightMax?: number;
  /** Weight of an entry, in bytes or another unit. It must be the same each time for one value. */
  readonly weigh?: (value: Value) => number;
  /** Called for each removed entry: evicted, replaced, deleted or cleared. */
  readonly onRemove?: (value: Value) => void;
}

interface Entry<Key, Value> {
  readonly key: Key;
  readonly value: Value;
  older: Entry<Key, Value> | null;
  newer: Entry<Key, Value> | null;
}

/**
 * An LRU cache with a limit on the number of entries and on their weight.
 *
 * The order of use is a linked list. With the insertion order of a Map, every use would be a delete and an insert: the Map
 * then copies itself repeatedly, and an iterator kept at its oldest entry keeps every previous copy alive.
 */
export class BoundedCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #oldest: Entry<Key, Value> | null = null;
  #newest: Entry<Key, Value> | null = null;
  #weight = 0;

  constructor(private readonly limits: CacheLimits<Value>) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Total weight; 0 without `weigh`. */
  get weight(): number {
    return this.#weight;
  }

  /** @returns undefined for a miss; a hit makes the entry the most recently used */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /** Caches a value, unless it alone exceeds the maximum weight. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weightOf(value);
    if (weight > this.#weightMax) return;
    const entry: Entry<Key, Value> = { key, value, older: null, newer: null };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#weight += weight;
    while (this.#oldest !== null && this.#isOver) this.delete(this.#oldest.key);
  }

  /** The cached value, or the result of `create`, which is then cached. */
  getOrCreate(key: Key, create: () => Value): Value {
    const cached = this.get(key);
    if (cached !== undefined) return cached;
    const value = create();
    this.set(key, value);
    return value;
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#entries.delete(key);
    this.#unlink(entry);
    this.#weight -= this.#weightOf(entry.value);
    this.limits.onRemove?.(entry.value);
    return true;
  }

  clear(): void {
    while (this.#oldest !== null) this.delete(this.#oldest.key);
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

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry<Key, Value>): void {
    const { older, newer } = entry;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    entry.older = null;
    entry.newer = null;
  }
}
