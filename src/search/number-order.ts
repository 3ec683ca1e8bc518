import { wholeOfPoint } from './number-point.ts';
import type { Order, PlaceValue } from './order.ts';

const longOffset = 2n ** 63n;
const longDigits = 20;

/**
 * A long as text that orders by code points as the longs do: 20 digits, counted from the smallest long.
 * So it crosses processes exactly and is compared without knowing the field's type.
 */
export function longPlace(whole: bigint): string {
  return (whole + longOffset).toString().padStart(longDigits, '0');
}

/** Sorting by numbers; `approx` is NaN for none. A list is sorted by the item that the two readers choose. */
export class NumberOrder implements Order {
  readonly isExact: boolean;
  readonly #isLong: boolean;
  readonly #sign: number;
  readonly #approx: (doc: number) => number;
  readonly #residual: (doc: number) => number;

  constructor(
    isLong: boolean,
    isDescending: boolean,
    approx: (doc: number) => number,
    residual: (doc: number) => number,
  ) {
    this.isExact = !isLong;
    this.#isLong = isLong;
    this.#sign = isDescending ? -1 : 1;
    this.#approx = approx;
    this.#residual = residual;
  }

  key(doc: number): number {
    const approx = this.#approx(doc);
    return Number.isNaN(approx) ? Infinity : this.#sign * approx;
  }

  keys(docs: Int32Array, count: number, into: Float64Array): void {
    for (let at = 0; at < count; at += 1) into[at] = this.key(docs[at] ?? 0);
  }

  compare(a: number, b: number): number {
    if (!this.#isLong || this.key(a) === Infinity) return 0;
    return this.#sign * (this.#residual(a) - this.#residual(b));
  }

  value(doc: number): PlaceValue {
    const approx = this.#approx(doc);
    if (Number.isNaN(approx)) return null;
    if (!this.#isLong) return approx;
    return longPlace(wholeOfPoint({ approx, residual: this.#residual(doc) }));
  }

  keyOf(value: PlaceValue): number {
    if (value === null) return Infinity;
    if (!this.#isLong) return this.#sign * Number(value);
    return this.#sign * Number(wholeOfPlace(value));
  }

  compareTo(doc: number, value: PlaceValue): number {
    if (!this.#isLong || value === null) return 0;
    const whole = wholeOfPlace(value);
    return this.#sign * (this.#residual(doc) - Number(whole - BigInt(Number(whole))));
  }
}

function wholeOfPlace(place: PlaceValue): bigint {
  return typeof place === 'string' && /^\d{20}$/.test(place) ? BigInt(place) - longOffset : 0n;
}
