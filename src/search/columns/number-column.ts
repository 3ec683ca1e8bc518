import type { Json } from '../../contract/json.ts';
import { Bitmap } from '../bitmap.ts';
import type { ValueKind } from '../fields/field-type.ts';
import type { Condition } from '../filter/condition.ts';
import { type DocTest, endOfGo, matchNothing } from '../filter/doc-test.ts';
import { type PointTest, pointTest } from '../filter/point-test.ts';
import type { Steps } from '../pace.ts';
import type { Order } from '../sort/order.ts';
import type { Column } from './column.ts';
import { NumberOrder } from './number-order.ts';
import { type NumberPoint, nextDown, nextUp, pointOf } from './number-point.ts';

/** One number for each doc: integers, longs, floats, doubles, and dates in milliseconds. */
export class NumberColumn implements Column {
  readonly present: Bitmap;
  readonly #kind: ValueKind;
  /** NaN for no value: it compares false with everything. */
  #values: Float64Array;
  /** Differences of the exact longs from their doubles; null while no value needs it. */
  #residuals: Int16Array | null = null;

  constructor(capacity: number, kind: ValueKind) {
    this.present = new Bitmap(capacity);
    this.#kind = kind;
    this.#values = new Float64Array(capacity).fill(Number.NaN);
  }

  get bytes(): number {
    return this.#values.byteLength + (this.#residuals?.byteLength ?? 0);
  }

  set(doc: number, value: Json): null {
    const point = pointOf(this.#kind, value);
    if (point === null) return null;
    this.#values[doc] = point.approx;
    if (point.residual !== 0) this.#residuals ??= new Int16Array(this.#values.length);
    if (this.#residuals !== null) this.#residuals[doc] = point.residual;
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    this.#values[doc] = Number.NaN;
    this.present.remove(doc);
    return null;
  }

  grow(capacity: number): void {
    const values = new Float64Array(capacity).fill(Number.NaN, this.#values.length);
    values.set(this.#values);
    this.#values = values;
    this.present.grow(capacity);
    if (this.#residuals === null) return;
    const residuals = new Int16Array(capacity);
    residuals.set(this.#residuals);
    this.#residuals = residuals;
  }

  /** The value's double, NaN for none. */
  approxAt(doc: number): number {
    return this.#values[doc] ?? Number.NaN;
  }

  residualAt(doc: number): number {
    return this.#residuals?.[doc] ?? 0;
  }

  *match(condition: Condition): Steps<DocTest> {
    const test = yield* pointTest(this.#kind, condition);
    if (test.kind === 'none') return matchNothing;
    const isPlain = this.#kind !== 'long' || this.#residuals === null;
    return isPlain && test.kind === 'between'
      ? matchBetween(this.#values, test.low, test.high)
      : this.#matchExact(test);
  }

  order(isDescending: boolean): Order {
    return new NumberOrder(this.#kind === 'long', isDescending, {
      approx: (doc) => this.approxAt(doc),
      residual: (doc) => this.residualAt(doc),
      values: this.#values,
    });
  }

  #matchExact(test: PointTest): DocTest {
    const values = this.#values;
    const residuals = this.#residuals;
    const accepts = acceptorOf(test);
    const holds = (doc: number): boolean => accepts(values[doc] ?? Number.NaN, residuals?.[doc] ?? 0);
    return {
      test: holds,
      scan: (into, from, docCount) => {
        const end = endOfGo(from, docCount);
        for (let doc = from; doc < end; doc += 1) if (holds(doc)) into.add(doc);
        return end;
      },
      few: null,
    };
  }
}

/** The test as a function of one number; NaN is never accepted. */
export function acceptorOf(test: PointTest): (approx: number, residual: number) => boolean {
  if (test.kind === 'none') return () => false;
  if (test.kind === 'among') return (approx, residual) => test.points.has(approx, residual);
  const { low, high } = test;
  return (approx, residual) =>
    (approx > low.approx || (approx === low.approx && residual >= low.residual)) &&
    (approx < high.approx || (approx === high.approx && residual <= high.residual));
}

function matchBetween(values: Float64Array, lowPoint: NumberPoint, highPoint: NumberPoint): DocTest {
  const low = lowPoint.residual > 0 ? nextUp(lowPoint.approx) : lowPoint.approx;
  const high = highPoint.residual < 0 ? nextDown(highPoint.approx) : highPoint.approx;
  return {
    test: (doc) => {
      const value = values[doc] ?? Number.NaN;
      return value >= low && value <= high;
    },
    scan: (into, from, docCount) => {
      const end = endOfGo(from, docCount);
      scanBetween(values, low, high, into, from, end);
      return end;
    },
    few: null,
  };
}

function scanBetween(
  values: Float64Array,
  low: number,
  high: number,
  into: Bitmap,
  from: number,
  end: number,
): void {
  for (let doc = from; doc < end; doc += 1) {
    const value = values[doc] ?? Number.NaN;
    if (value >= low && value <= high) into.add(doc);
  }
}
