import { workBudget } from '../../lib/cooperative-yield.ts';
import type { Order, PlaceValue } from '../sort/order.ts';
import { compareCollated } from '../sort/text-order.ts';
import type { ScalarCodes } from './scalar-codes.ts';

/** The least cost of a comparison, in units of the pace. */
const comparisonUnits = 100;

/** Texts in the order of a locale. No number orders like them, so all texts have one key. */
export class CollatedOrder implements Order {
  readonly isExact = false;

  constructor(
    private readonly column: ScalarCodes,
    private readonly collation: string,
    readonly isDescending: boolean,
  ) {}

  key(doc: number): number {
    return this.column.codeAt(doc) < 0 ? Infinity : 0;
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    for (let at = from; at < end; at += 1) into[at] = this.key(docs[at] ?? 0);
    workBudget.units += end - from;
    return end;
  }

  compare(a: number, b: number): number {
    if (this.column.codeAt(a) === this.column.codeAt(b)) return 0;
    return this.compareTo(a, this.value(b));
  }

  value(doc: number): PlaceValue {
    return this.column.codeAt(doc) < 0 ? null : this.column.textAt(doc);
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : 0;
  }

  compareTo(doc: number, value: PlaceValue): number {
    const own = this.value(doc);
    if (typeof own !== 'string' || typeof value !== 'string') return 0;
    workBudget.units += comparisonUnits + Math.min(own.length, value.length);
    const compared = compareCollated(this.collation, own, value);
    return this.isDescending ? -compared : compared;
  }
}
