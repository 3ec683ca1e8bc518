import { randomInt } from 'node:crypto';
import type { PlainValue } from './packed-values.ts';
import { int32, type PartReader, type Parts, uint32 } from './snapshot/parts.ts';

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

const slotsMin = 8;
/** A slot is two numbers: the hash, and the id plus 1, or 0 where the slot is empty. */
const slotInts = 2;

/**
 * An open-addressing hash table with linear probing, from the hash of a key to its id. At least a quarter of the slots is
 * free, so probe sequences are short.
 */
export class IdSegment {
  #slots = new Int32Array(slotsMin * slotInts);
  /** Number of slots (a power of two) minus 1. */
  #mask = slotsMin - 1;
  #size = 0;

  get bytes(): number {
    return this.#slots.byteLength;
  }

  *parts(): Parts {
    yield Uint32Array.of(this.#size);
    yield this.#slots;
  }

  async restore(from: PartReader): Promise<void> {
    [this.#size = 0] = await from.numbers(uint32);
    this.#slots = await from.numbers(int32);
    this.#mask = this.#slots.length / slotInts - 1;
  }

  /** The first slot with the hash, or -1. */
  firstOf(hash: number): number {
    return this.#slotFrom(hash, hash & this.#mask);
  }

  /** The next slot with the hash, or -1. */
  nextOf(hash: number, slot: number): number {
    return this.#slotFrom(hash, (slot + 1) & this.#mask);
  }

  idAt(slot: number): number {
    return (this.#slots[slot * slotInts + 1] ?? 0) - 1;
  }

  add(hash: number, id: number): void {
    this.#size += 1;
    if (4 * this.#size > 3 * (this.#mask + 1)) this.#double();
    this.#put(hash, id);
  }

  /** Removes an entry, and moves the entries after it that would no longer be found. */
  remove(slot: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    this.#size -= 1;
    let free = slot;
    for (let at = (slot + 1) & mask; slots[at * slotInts + 1] !== 0; at = (at + 1) & mask) {
      const home = (slots[at * slotInts] ?? 0) & mask;
      // An entry can move unless its home slot is after the free slot.
      if (((at - home) & mask) < ((at - free) & mask)) continue;
      slots.copyWithin(free * slotInts, at * slotInts, (at + 1) * slotInts);
      free = at;
    }
    slots[free * slotInts + 1] = 0;
  }

  forEach(visit: (hash: number, id: number) => void): void {
    const slots = this.#slots;
    for (let at = 0; at < slots.length; at += slotInts) {
      const id = (slots[at + 1] ?? 0) - 1;
      if (id >= 0) visit(slots[at] ?? 0, id);
    }
  }

  #slotFrom(hash: number, from: number): number {
    const slots = this.#slots;
    const mask = this.#mask;
    for (let slot = from; slots[slot * slotInts + 1] !== 0; slot = (slot + 1) & mask) {
      if (slots[slot * slotInts] === hash) return slot;
    }
    return -1;
  }

  #put(hash: number, id: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let slot = hash & mask;
    while (slots[slot * slotInts + 1] !== 0) slot = (slot + 1) & mask;
    slots[slot * slotInts] = hash;
    slots[slot * slotInts + 1] = id + 1;
  }

  #double(): void {
    const former = this.#slots;
    this.#slots = new Int32Array(former.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < former.length; at += slotInts) {
      const id = (former[at + 1] ?? 0) - 1;
      if (id >= 0) this.#put(former[at] ?? 0, id);
    }
  }
}
