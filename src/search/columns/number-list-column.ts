import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import { Bitmap } from '../bitmap.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { comparePoints, type NumberPoint, pointOf } from '../fields/number-point.ts';
import { type Condition, type DocTest, matchNothing, matchTested } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import { NumberOrder, type Order } from '../sort/order.ts';
import type { Column } from './column.ts';
import { ListArena } from './list-arena.ts';
import { acceptorOf } from './number-column.ts';
import { pointTest } from './point-test.ts';

/** The cost of reading an item, in units of the work budget. */
const unitsPerItem = 20;
const unitsPerNumber = 5;

/** Lists of numbers in ascending order, because a sort only needs the first or the last. */
export class NumberListColumn implements Column {
  readonly present: Bitmap;
  readonly #kind: ValueKind;
  readonly #values: ListArena<Float64Array>;
  /** Differences of exact longs from their doubles, in parallel lists; null for other types. */
  readonly #residuals: ListArena<Int16Array> | null;

  constructor(capacity: number, kind: ValueKind) {
    this.present = new Bitmap(capacity);
    this.#kind = kind;
    this.#values = new ListArena(capacity, (length) => new Float64Array(length));
    this.#residuals = kind === 'long' ? new ListArena(capacity, (length) => new Int16Array(length)) : null;
  }

  get bytes(): number {
    return this.#values.bytes + (this.#residuals?.bytes ?? 0);
  }

  *set(doc: number, value: Json): Steps<void> {
    if (!Array.isArray(value)) return;
    const points: NumberPoint[] = [];
    for (const item of value) {
      const point = pointOf(this.#kind, item);
      if (point !== null) points.push(point);
      workBudget.units += unitsPerItem;
      if (workBudget.isOver()) yield;
    }
    const inOrder = yield* sorted(points, comparePoints);
    for (const lists of [this.#values, this.#residuals]) {
      const growing = lists?.reserve(inOrder.length) ?? null;
      if (growing !== null) yield* growing;
    }
    this.#values.set(doc, yield* numbersOf(inOrder, 'approx'));
    this.#residuals?.set(doc, yield* numbersOf(inOrder, 'residual'));
    this.present.add(doc);
  }

  clear(doc: number): null {
    this.#values.clear(doc);
    this.#residuals?.clear(doc);
    this.present.remove(doc);
    return null;
  }

  *parts(): Parts {
    yield* this.present.parts();
    yield* this.#values.parts();
    if (this.#residuals !== null) yield* this.#residuals.parts();
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
    await this.#values.restore(from);
    await this.#residuals?.restore(from);
  }

  *grow(capacity: number): Steps<void> {
    yield* this.#values.grow(capacity);
    if (this.#residuals !== null) yield* this.#residuals.grow(capacity);
    this.present.grow(capacity);
  }

  *match(condition: Condition): Steps<DocTest> {
    const test = yield* pointTest(this.#kind, condition);
    if (test.kind === 'none') return matchNothing;
    const accepts = acceptorOf(test);
    return matchTested((doc) => {
      const count = this.#values.counts[doc] ?? 0;
      workBudget.units += count;
      for (let at = 0; at < count; at += 1) {
        if (accepts(this.approxAt(doc, at), this.residualAt(doc, at))) return true;
      }
      return false;
    });
  }

  order(isDescending: boolean): Order {
    const placeOf = (doc: number): number => (isDescending ? (this.#values.counts[doc] ?? 0) - 1 : 0);
    const isEmpty = (doc: number): boolean => (this.#values.counts[doc] ?? 0) === 0;
    return new NumberOrder(isDescending, {
      approx: (doc) => (isEmpty(doc) ? Number.NaN : this.approxAt(doc, placeOf(doc))),
      residual:
        this.#residuals === null ? null : (doc) => (isEmpty(doc) ? 0 : this.residualAt(doc, placeOf(doc))),
      values: null,
    });
  }

  /** Number of items of a doc. */
  countAt(doc: number): number {
    return this.#values.counts[doc] ?? 0;
  }

  /** An item as a double; `at` must be below `countAt`. */
  approxAt(doc: number, at: number): number {
    return this.#values.items[(this.#values.starts[doc] ?? 0) + at] ?? Number.NaN;
  }

  /** The difference of an item from its double. */
  residualAt(doc: number, at: number): number {
    const residuals = this.#residuals;
    return residuals === null ? 0 : (residuals.items[(residuals.starts[doc] ?? 0) + at] ?? 0);
  }
}

function* numbersOf(points: readonly NumberPoint[], part: 'approx' | 'residual'): Steps<number[]> {
  const numbers: number[] = [];
  for (const point of points) {
    numbers.push(point[part]);
    workBudget.units += unitsPerNumber;
    if (workBudget.isOver()) yield;
  }
  return numbers;
}
