import type { Json } from '../../contract/json.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { nextDown, nextUp, pointOf } from '../fields/number-point.ts';
import { type Condition, type DocTest, endOfGo, matchNothing, matchTested } from '../filter/condition.ts';
import { grown } from '../growth.ts';
import { float64, int16, type PartReader, type Parts } from '../snapshot/parts.ts';
import { NumberOrder, type Order } from '../sort/order.ts';
import { type FirstDocs, KeptOrder, type Stretch, type Walk } from '../sort/sorted-docs.ts';
import type { Column } from './column.ts';
import { type PointTest, pointTest } from './point-test.ts';

/** The docs of a column, sorted by their numbers. */
export interface NumbersInOrder {
  /** Number of docs in the range. */
  count(stretch: Stretch): number;
  /** The first docs of a range in a direction. */
  first(stretch: Stretch, walk: Walk): Steps<FirstDocs>;
}

/** One number per doc: integers, longs, floats, doubles, and dates in milliseconds. */
export class NumberColumn implements Column {
  readonly present: Bitmap;
  readonly #kind: ValueKind;
  /** NaN for no value, because comparisons with it are false. */
  #values: Float64Array;
  /** Differences of exact longs from their doubles; null until a value needs one. */
  #residuals: Int16Array | null = null;
  readonly #order = new KeptOrder();

  constructor(capacity: number, kind: ValueKind) {
    this.present = new Bitmap(capacity);
    this.#kind = kind;
    this.#values = new Float64Array(capacity).fill(Number.NaN);
  }

  get bytes(): number {
    return this.#values.byteLength + (this.#residuals?.byteLength ?? 0) + this.#order.bytes;
  }

  set(doc: number, value: Json): null {
    const point = pointOf(this.#kind, value);
    if (point === null) return null;
    this.#order.move(doc, this.approxAt(doc));
    this.#values[doc] = point.approx;
    if (point.residual !== 0) this.#residuals ??= new Int16Array(this.#values.length);
    if (this.#residuals !== null) this.#residuals[doc] = point.residual;
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    this.#order.move(doc, this.approxAt(doc));
    this.#values[doc] = Number.NaN;
    this.present.remove(doc);
    return null;
  }

  *parts(): Parts {
    yield* this.present.parts();
    yield this.#values;
    yield this.#residuals ?? new Int16Array(0);
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
    this.#values = await from.numbers(float64);
    const residuals = await from.numbers(int16);
    this.#residuals = residuals.length === 0 ? null : residuals;
  }

  *grow(capacity: number): Steps<void> {
    this.#values = yield* grown(this.#values, new Float64Array(capacity), Number.NaN);
    this.present.grow(capacity);
    if (this.#residuals !== null)
      this.#residuals = yield* grown(this.#residuals, new Int16Array(capacity), 0);
  }

  /** 1 for a doc with a value, otherwise 0. */
  countAt(doc: number): number {
    return Number.isNaN(this.approxAt(doc)) ? 0 : 1;
  }

  /** The value as a double; NaN for none. */
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
      ? matchBetween(this.#values, stretchBetween(test))
      : this.#matchExact(test);
  }

  /** The numbers that fulfil a condition; null if they are not a contiguous range. */
  *stretchOf(condition: Condition): Steps<Stretch | null> {
    const test = yield* pointTest(this.#kind, condition);
    return test.kind === 'between' ? stretchBetween(test) : null;
  }

  /** The docs sorted by their numbers; null if doubles do not represent these exactly, and while scans are as good. */
  *inOrder(): Steps<NumbersInOrder | null> {
    if (this.#residuals !== null) return null;
    const values = this.#values;
    const docs = yield* this.#order.asked(values);
    if (docs === null) return null;
    return {
      count: (stretch) => docs.count(values, stretch),
      first: (stretch, walk) => docs.first(values, stretch, walk),
    };
  }

  order(isDescending: boolean): Order {
    return new NumberOrder(isDescending, {
      approx: (doc) => this.approxAt(doc),
      residual: this.#kind === 'long' ? (doc) => this.residualAt(doc) : null,
      values: this.#values,
    });
  }

  #matchExact(test: PointTest): DocTest {
    const values = this.#values;
    const residuals = this.#residuals;
    const accepts = acceptorOf(test);
    return matchTested((doc) => accepts(values[doc] ?? Number.NaN, residuals?.[doc] ?? 0));
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

/** The doubles that are between two points. */
function stretchBetween({ low, high }: Extract<PointTest, { kind: 'between' }>): Stretch {
  return {
    low: low.residual > 0 ? nextUp(low.approx) : low.approx,
    high: high.residual < 0 ? nextDown(high.approx) : high.approx,
  };
}

function matchBetween(values: Float64Array, { low, high }: Stretch): DocTest {
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
