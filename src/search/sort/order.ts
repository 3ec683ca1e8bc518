/** The order of a shard's docs in an answer: by each key of its sort, and by all of them. */
import { workBudget } from '../../lib/cooperative-yield.ts';
import { wholeOfPoint } from '../fields/number-point.ts';
import { endOfGo } from '../filter/condition.ts';
import type { PlainValue } from '../packed-values.ts';
import type { RowPlace } from '../shard-answer.ts';

export type PlaceValue = PlainValue | null;

/** One key of a sort, bound to the docs of a shard and to its direction: "smaller" means earlier in the answer. */
export interface Order {
  /** True when docs with equal keys are equal; otherwise `compare` decides between them. */
  readonly isExact: boolean;
  readonly isDescending: boolean;
  /** A number that sorts like the doc's value. `Infinity` for no value, because absent values are last in both orders. */
  key(doc: number): number;
  /** Writes `key` of the docs at `from`..`end` to the same indexes of `into`. @returns where to continue */
  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number;
  /** Compares docs with equal keys. */
  compare(a: number, b: number): number;
  /** The value by which the doc is sorted, for a `RowPlace`. */
  value(doc: number): PlaceValue;
  /** The key of a value from a `RowPlace`. */
  keyOf(value: PlaceValue): number;
  /** Compares the doc with a value whose key equals the doc's. */
  compareTo(doc: number, value: PlaceValue): number;
}

const longOffset = 2n ** 63n;
const longDigits = 20;

/**
 * A long as text of 20 digits, as offset from the smallest long. These texts sort like the longs, so that a long can be sent
 * exactly and compared without knowing the field's type.
 */
export function longPlace(whole: bigint): string {
  return (whole + longOffset).toString().padStart(longDigits, '0');
}

function wholeOfPlace(place: PlaceValue): bigint {
  return typeof place === 'string' && /^\d{20}$/.test(place) ? BigInt(place) - longOffset : 0n;
}

/** Reads the number by which a doc is sorted. */
export interface NumberReader {
  /** NaN for none. */
  readonly approx: (doc: number) => number;
  /** The difference of a long from its approximation; null if the numbers are not longs. */
  readonly residual: ((doc: number) => number) | null;
  /** The approximations by doc, if they are in a separate array; otherwise null. */
  readonly values: Float64Array | null;
}

/** Sorts by numbers: of a column, distances or scores. */
export class NumberOrder implements Order {
  readonly isExact: boolean;
  readonly isDescending: boolean;
  readonly #sign: number;
  readonly #reader: NumberReader;

  constructor(isDescending: boolean, reader: NumberReader) {
    this.isExact = reader.residual === null;
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
    this.#reader = reader;
  }

  /** @param approx reads numbers that are not longs, and may add the cost to the work budget */
  static of(isDescending: boolean, approx: NumberReader['approx']): NumberOrder {
    return new NumberOrder(isDescending, { approx, residual: null, values: null });
  }

  key(doc: number): number {
    const approx = this.#reader.approx(doc);
    return Number.isNaN(approx) ? Infinity : this.#sign * approx;
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const { values } = this.#reader;
    return values === null
      ? this.#readKeys(docs, from, end, into)
      : this.#copyKeys(values, docs, from, end, into);
  }

  #copyKeys(values: Float64Array, docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const sign = this.#sign;
    const stop = endOfGo(from, end);
    for (let at = from; at < stop; at += 1) {
      const value = values[docs[at] ?? 0] ?? Number.NaN;
      into[at] = Number.isNaN(value) ? Infinity : sign * value;
    }
    return stop;
  }

  /** Stops early if reading the numbers costs much. */
  #readKeys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const { approx } = this.#reader;
    const sign = this.#sign;
    const { unitsPerClockCheck } = workBudget;
    let at = from;
    while (at < end) {
      const value = approx(docs[at] ?? 0);
      into[at] = Number.isNaN(value) ? Infinity : sign * value;
      at += 1;
      workBudget.units += 1;
      if (workBudget.units >= unitsPerClockCheck) break;
    }
    return at;
  }

  compare(a: number, b: number): number {
    const { residual } = this.#reader;
    if (residual === null || this.key(a) === Infinity) return 0;
    return this.#sign * (residual(a) - residual(b));
  }

  value(doc: number): PlaceValue {
    const { approx: read, residual } = this.#reader;
    const approx = read(doc);
    if (Number.isNaN(approx)) return null;
    return residual === null ? approx : longPlace(wholeOfPoint({ approx, residual: residual(doc) }));
  }

  keyOf(value: PlaceValue): number {
    if (value === null) return Infinity;
    return this.#sign * Number(this.isExact ? value : wholeOfPlace(value));
  }

  compareTo(doc: number, value: PlaceValue): number {
    const { residual } = this.#reader;
    if (residual === null || value === null) return 0;
    const whole = wholeOfPlace(value);
    return this.#sign * (residual(doc) - Number(whole - BigInt(Number(whole))));
  }
}

/** The order of a field that no doc has. */
export const absentOrder: Order = NumberOrder.of(false, () => Number.NaN);

/** The total order of an answer: its sort keys, then `_originId`, then `_sourceGuid` (docs/reference/indexes-and-queries.md "Sorting"). */
export interface Ranking {
  readonly orders: readonly Order[];
  /** Compares docs that are equal in all orders; never 0 for two docs. */
  compareIds(a: number, b: number): number;
  /** Compares the doc's ids with those of a row position. */
  compareIdsTo(doc: number, place: RowPlace): number;
}

/** The minimum cost of comparing two docs, in units of the work budget. */
const comparisonUnits = 10;

/** Compares two docs with equal first keys; never 0. */
export function compareDocs(ranking: Ranking, a: number, b: number): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    workBudget.units += comparisonUnits;
    if (at > 0) {
      const keyA = order.key(a);
      const keyB = order.key(b);
      if (keyA !== keyB) return keyA < keyB ? -1 : 1;
    }
    if (order.isExact) continue;
    const compared = order.compare(a, b);
    if (compared !== 0) return compared;
  }
  return ranking.compareIds(a, b);
}

/** Compares a doc and a row position with equal first keys. */
export function compareToPlace(ranking: Ranking, doc: number, place: RowPlace): number {
  const { orders } = ranking;
  for (let at = 0; at < orders.length; at += 1) {
    const order = orders[at];
    if (order === undefined) break;
    workBudget.units += comparisonUnits;
    const value = place.values[at] ?? null;
    const key = order.key(doc);
    const placeKey = order.keyOf(value);
    if (key !== placeKey) return key < placeKey ? -1 : 1;
    const compared = order.compareTo(doc, value);
    if (compared !== 0) return compared;
  }
  return ranking.compareIdsTo(doc, place);
}
