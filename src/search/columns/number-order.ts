import { wholeOfPoint } from '../fields/number-point.ts';
import { endOfGo } from '../filter/condition.ts';
import type { Order, PlaceValue } from '../sort/order.ts';

const longOffset = 2n ** 63n;
const longDigits = 20;

/**
 * A long as text of 20 digits, as offset from the smallest long. These texts sort like the longs, so that a long can be sent
 * exactly and compared without knowing the field's type.
 */
export function longPlace(whole: bigint): string {
  return (whole + longOffset).toString().padStart(longDigits, '0');
}

/** Reads the number by which a doc is sorted. */
export interface NumberReader {
  /** NaN for none. */
  approx(doc: number): number;
  residual(doc: number): number;
  /** The approximations by doc, if they are in a separate array; otherwise null. */
  readonly values: Float64Array | null;
}

/** Sorts by numbers. */
export class NumberOrder implements Order {
  readonly isExact: boolean;
  readonly isDescending: boolean;
  readonly #isLong: boolean;
  readonly #sign: number;
  readonly #reader: NumberReader;

  constructor(isLong: boolean, isDescending: boolean, reader: NumberReader) {
    this.isExact = !isLong;
    this.#isLong = isLong;
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
    this.#reader = reader;
  }

  key(doc: number): number {
    const approx = this.#reader.approx(doc);
    return Number.isNaN(approx) ? Infinity : this.#sign * approx;
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const { values } = this.#reader;
    const stop = endOfGo(from, end);
    if (values === null) {
      for (let at = from; at < stop; at += 1) into[at] = this.key(docs[at] ?? 0);
      return stop;
    }
    const sign = this.#sign;
    for (let at = from; at < stop; at += 1) {
      const value = values[docs[at] ?? 0] ?? Number.NaN;
      into[at] = Number.isNaN(value) ? Infinity : sign * value;
    }
    return stop;
  }

  compare(a: number, b: number): number {
    if (!this.#isLong || this.key(a) === Infinity) return 0;
    return this.#sign * (this.#reader.residual(a) - this.#reader.residual(b));
  }

  value(doc: number): PlaceValue {
    const approx = this.#reader.approx(doc);
    if (Number.isNaN(approx)) return null;
    if (!this.#isLong) return approx;
    return longPlace(wholeOfPoint({ approx, residual: this.#reader.residual(doc) }));
  }

  keyOf(value: PlaceValue): number {
    if (value === null) return Infinity;
    if (!this.#isLong) return this.#sign * Number(value);
    return this.#sign * Number(wholeOfPlace(value));
  }

  compareTo(doc: number, value: PlaceValue): number {
    if (!this.#isLong || value === null) return 0;
    const whole = wholeOfPlace(value);
    return this.#sign * (this.#reader.residual(doc) - Number(whole - BigInt(Number(whole))));
  }
}

function wholeOfPlace(place: PlaceValue): bigint {
  return typeof place === 'string' && /^\d{20}$/.test(place) ? BigInt(place) - longOffset : 0n;
}
