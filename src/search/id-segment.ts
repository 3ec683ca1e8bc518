import { int32, type PartReader, type Parts, uint32 } from './snapshot/parts.ts';

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
