import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { grown } from '../growth.ts';
import { IdTable } from '../id-table.ts';
import type { PlainValue } from '../packed-values.ts';
import { current } from '../phase.ts';
import { float64, type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';
import { compareText, orderPrefix } from '../sort/text-order.ts';
import { PagedList, ValueList } from '../value-list.ts';
import { Trigrams } from './trigrams.ts';

/** With fewer values, all are compared instead of using an index. */
const indexedValuesMin = 256;

/** The distinct values of a column. Each has a code, a small number, while at least one doc has it. */
export class ValueDictionary {
  readonly #values = new ValueList<PlainValue>();
  readonly #codes = new IdTable(this.#values);
  /** Cache of strings in lower case. */
  readonly #lowered = new PagedList<string | undefined>();
  readonly #free: number[] = [];
  #uses = new Uint32Array(16);
  #keys = new Float64Array(16);
  #textUnits = 0;
  /** Null before the first search for a pattern in many values. */
  #trigrams: Trigrams | null = null;

  /** All codes are below this. Some of them may be free. */
  get codeCount(): number {
    return this.#values.length;
  }

  get bytes(): number {
    const perValue = 40;
    const values = this.#codes.bytes + this.#codes.size * perValue + this.#textUnits;
    return this.#uses.byteLength + this.#keys.byteLength + values + (this.#trigrams?.bytes ?? 0);
  }

  *parts(): Parts {
    yield this.#uses;
    yield this.#keys;
    yield* this.#values.parts();
    yield* this.#codes.parts();
    yield Float64Array.of(this.#textUnits);
  }

  async restore(from: PartReader): Promise<void> {
    this.#uses = await from.numbers(uint32);
    this.#keys = await from.numbers(float64);
    await this.#values.restore(from);
    await this.#codes.restore(from);
    [this.#textUnits = 0] = await from.numbers(float64);
    for (let code = 0; code < this.codeCount; code += 1) if (!this.isUsed(code)) this.#free.push(code);
  }

  /** Capacity for codes. */
  get capacity(): number {
    return this.#uses.length;
  }

  /** True if it must grow before a new value can be added. */
  get isFull(): boolean {
    return this.#free.length === 0 && this.#values.length === this.#uses.length;
  }

  /** Doubles the capacity for codes. */
  *grow(): Steps<void> {
    const capacity = this.#uses.length * 2;
    this.#keys = yield* grown(this.#keys, new Float64Array(capacity), 0);
    this.#uses = yield* grown(this.#uses, new Uint32Array(capacity), 0);
  }

  /** -1 if no doc has the value. */
  codeOf(value: PlainValue): number {
    return this.#codes.find(value);
  }

  /** The value of a code in use. */
  valueOf(code: number): PlainValue {
    const value = this.#values.at(code);
    assert(value !== undefined, 'a code in use has a value');
    return value;
  }

  isUsed(code: number): boolean {
    return (this.#uses[code] ?? 0) > 0;
  }

  /** Number of uses of the code. */
  usesOf(code: number): number {
    return this.#uses[code] ?? 0;
  }

  /** Adds a use of a value. The dictionary must not be full. @returns its code, which may be new */
  acquire(value: PlainValue): number {
    const next = this.#free.at(-1) ?? this.#values.length;
    const code = this.#codes.findOrAdd(value, next);
    if (code === next) this.#allot(code, value);
    this.#uses[code] = (this.#uses[code] ?? 0) + 1;
    return code;
  }

  release(code: number): void {
    assert(this.isUsed(code), 'a code is released only while something has it');
    const uses = this.usesOf(code) - 1;
    this.#uses[code] = uses;
    if (uses > 0) return;
    const value = this.valueOf(code);
    this.#codes.remove(value, code);
    this.#textUnits -= unitsOf(value);
    this.#values.set(code, undefined);
    this.#lowered.set(code, undefined);
    this.#free.push(code);
  }

  /** A number that sorts like the value. Different texts may have equal numbers. */
  keyOf(code: number): number {
    return this.#keys[code] ?? 0;
  }

  /** Writes `keyOf` the code of each of the docs at `from`..`end` to the same indexes; NaN for a negative code. */
  keysOf(codes: Int32Array, docs: Int32Array, from: number, end: number, into: Float64Array): void {
    const keys = this.#keys;
    for (let at = from; at < end; at += 1) {
      const code = codes[docs[at] ?? 0] ?? -1;
      into[at] = code < 0 ? Number.NaN : (keys[code] ?? 0);
    }
  }

  compare(a: number, b: number): number {
    if (a === b) return 0;
    const keyA = this.#keys[a] ?? 0;
    const keyB = this.#keys[b] ?? 0;
    if (keyA !== keyB) return keyA < keyB ? -1 : 1;
    return compareValues(this.valueOf(a), this.valueOf(b));
  }

  /** The text in lower case, cached. */
  loweredOf(code: number): string {
    const known = this.#lowered.at(code);
    if (known !== undefined) return known;
    const lowered = String(this.valueOf(code)).toLowerCase();
    workBudget.units += lowered.length;
    this.#lowered.set(code, lowered);
    return lowered;
  }

  /**
   * Codes of texts that may contain all parts, ignoring case, with false positives. Some codes may be free or occur twice. The
   * first call reads all values.
   * @returns null if testing all values is as good
   */
  *codesWith(parts: readonly string[]): Steps<readonly number[] | null> {
    if (this.#codes.size < indexedValuesMin) return null;
    // Codes of removed values stay in the index until there are as many as others.
    if (this.#trigrams !== null && this.#trigrams.codeCount > 2 * this.#codes.size) this.#trigrams = null;
    this.#trigrams ??= new Trigrams(this.#codes.size);
    const trigrams = this.#trigrams;
    const { phase, detail } = current;
    current.enter('shared');
    while (trigrams.builtTo < this.#values.length) {
      const code = trigrams.builtTo;
      trigrams.builtTo += 1;
      const value = this.#values.at(code);
      if (typeof value === 'string') trigrams.add(code, value);
      if (workBudget.isOver()) yield;
    }
    current.enter(phase, detail);
    return trigrams.candidates(parts);
  }

  /** Assigns the next free code to a value. */
  #allot(code: number, value: PlainValue): void {
    assert(!this.isFull, 'there is room for another code');
    if (this.#free.pop() === undefined) this.#values.push(value);
    else this.#values.set(code, value);
    this.#uses[code] = 0;
    this.#keys[code] = orderKey(value);
    this.#textUnits += unitsOf(value);
    if (this.#trigrams !== null && code < this.#trigrams.builtTo && typeof value === 'string') {
      this.#trigrams.add(code, value);
    }
  }
}

/** A number that sorts like the value among values of its type. Only for texts, different values may have the same number. */
export function orderKey(value: PlainValue): number {
  return typeof value === 'string' ? orderPrefix(value) : Number(value);
}

/** Compares values: numbers before texts before booleans; numbers by size, texts by code points, false before true. */
export function compareValues(a: PlainValue, b: PlainValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === typeof b) return Number(a) - Number(b);
  return typeRank(a) - typeRank(b);
}

function typeRank(value: PlainValue): number {
  if (typeof value === 'number') return 0;
  return typeof value === 'string' ? 1 : 2;
}

function unitsOf(value: PlainValue): number {
  return typeof value === 'string' ? value.length : 0;
}
