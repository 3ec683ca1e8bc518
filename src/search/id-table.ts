import { randomInt } from 'node:crypto';
import { IdSegment } from './id-segment.ts';
import type { PlainValue } from './packed-values.ts';
import { type PartReader, type Parts, uint32 } from './snapshot/parts.ts';

/** The keys of a table by id. */
export interface KeysById {
  holds(id: number, key: PlainValue): boolean;
}

/** Doubling a segment moves all its entries at once. With this many it takes about a millisecond. */
const entriesMax = 32_768;
/** 16 million keys result in segments of 65,536. */
const segmentBits = 8;

/**
 * Maps keys to ids: small numbers, under which the keys are stored elsewhere. A `Map` would store each key a second time and
 * could not be written to a snapshot. Large tables are divided into segments that grow separately, so that they can have
 * millions of entries without long pauses.
 */
export class IdTable {
  readonly #keys: KeysById;
  /** Random, so that clients cannot choose keys with equal hashes. Nothing else depends on it. */
  #seed = randomInt(2 ** 32);
  /** All entries while there are few; empty afterwards. */
  #few = new IdSegment();
  /** Null while there are few entries. */
  #segments: readonly IdSegment[] | null = null;
  #size = 0;

  constructor(keys: KeysById) {
    this.#keys = keys;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return (this.#segments ?? [this.#few]).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  *parts(): Parts {
    const segments = this.#segments ?? [this.#few];
    yield Uint32Array.of(this.#seed, this.#size, segments.length);
    for (const segment of segments) yield* segment.parts();
  }

  /** The keys must be restored separately. @throws SnapshotDamagedError */
  async restore(from: PartReader): Promise<void> {
    const [seed = 0, size = 0, count = 1] = await from.numbers(uint32);
    [this.#seed, this.#size] = [seed, size];
    if (count > 1) this.#segments = newSegments();
    for (const segment of this.#segments ?? [this.#few]) await segment.restore(from);
  }

  /** The id of a key; -1 if missing. */
  find(key: PlainValue): number {
    return this.#find(key, hashOf(key, this.#seed));
  }

  /** The id of a key. Adds a missing key with `id`. */
  findOrAdd(key: PlainValue, id: number): number {
    const hash = hashOf(key, this.#seed);
    const known = this.#find(key, hash);
    if (known >= 0) return known;
    this.#add(hash, id);
    return id;
  }

  #find(key: PlainValue, hash: number): number {
    const segment = this.#segmentOf(hash);
    for (let slot = segment.firstOf(hash); slot >= 0; slot = segment.nextOf(hash, slot)) {
      const id = segment.idAt(slot);
      if (this.#keys.holds(id, key)) return id;
    }
    return -1;
  }

  /** Adds a missing key. */
  add(key: PlainValue, id: number): void {
    this.#add(hashOf(key, this.#seed), id);
  }

  #add(hash: number, id: number): void {
    if (this.#segments === null && this.#size === entriesMax) this.#divide();
    this.#segmentOf(hash).add(hash, id);
    this.#size += 1;
  }

  /** Removes an existing key. */
  remove(key: PlainValue, id: number): void {
    const hash = hashOf(key, this.#seed);
    const segment = this.#segmentOf(hash);
    for (let slot = segment.firstOf(hash); slot >= 0; slot = segment.nextOf(hash, slot)) {
      if (segment.idAt(slot) !== id) continue;
      segment.remove(slot);
      this.#size -= 1;
      return;
    }
  }

  #divide(): void {
    const segments = newSegments();
    this.#few.forEach((hash, id) => {
      segments[segmentNumber(hash)]?.add(hash, id);
    });
    this.#few = new IdSegment();
    this.#segments = segments;
  }

  #segmentOf(hash: number): IdSegment {
    return this.#segments?.[segmentNumber(hash)] ?? this.#few;
  }
}

function newSegments(): IdSegment[] {
  return Array.from({ length: 1 << segmentBits }, () => new IdSegment());
}

/** Uses the highest bits of a hash, because segments use the lowest. */
function segmentNumber(hash: number): number {
  return hash >>> (32 - segmentBits);
}

const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

function hashOf(key: PlainValue, seed: number): number {
  if (typeof key === 'string') return spread(hashOfText(key, seed));
  // 0 and -0 count as the same number.
  double[0] = Number(key) + 0;
  return spread(Math.imul(seed ^ (halves[0] ?? 0), 0x01000193) ^ (halves[1] ?? 0));
}

function hashOfText(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Makes each bit of a hash depend on all others (the finalizer of MurmurHash3). */
function spread(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
