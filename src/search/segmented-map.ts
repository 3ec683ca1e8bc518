type Key = string | number | boolean;

/** A `Map` that doubles moves all its entries at once. With as many as this it takes some 5 ms. */
const entriesMax = 32_768;
/** 16 million keys give segments of 65,536. */
const segmentCount = 256;
/** Characters of a text that choose its segment. */
const sampledMax = 16;

/**
 * A `Map` that takes millions of keys without a long pause. When it is large, its keys go into segments, which are Maps
 * that grow one by one. It takes more keys than one `Map` can, too.
 */
export class SegmentedMap<K extends Key, V> {
  /** All keys while they are few, none later. */
  readonly #few = new Map<K, V>();
  /** Null while there are few keys. */
  #segments: readonly Map<K, V>[] | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#mapOf(key).get(key);
  }

  /** Adds a key that is not there. */
  add(key: K, value: V): void {
    if (this.#segments === null && this.#size === entriesMax) this.#divide();
    this.#size += 1;
    this.#mapOf(key).set(key, value);
  }

  /** Changes the value of a key that is there. */
  set(key: K, value: V): void {
    this.#mapOf(key).set(key, value);
  }

  remove(key: K): void {
    if (this.#mapOf(key).delete(key)) this.#size -= 1;
  }

  #divide(): void {
    this.#segments = Array.from({ length: segmentCount }, () => new Map<K, V>());
    for (const [key, value] of this.#few) this.#mapOf(key).set(key, value);
    this.#few.clear();
  }

  #mapOf(key: K): Map<K, V> {
    return this.#segments?.[hashOf(key) & (segmentCount - 1)] ?? this.#few;
  }
}

function hashOf(key: Key): number {
  const hash = typeof key === 'string' ? hashOfText(key) : Number(key) ^ (Number(key) * 0x9e3779b1);
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 16;
}

/** Of some characters, the last one among them: where ids differ, it is mostly there. */
function hashOfText(text: string): number {
  const stride = Math.ceil(text.length / sampledMax);
  let hash = text.length;
  for (let at = text.length - 1; at >= 0; at -= stride) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash;
}
