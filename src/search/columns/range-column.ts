import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import type { ValueKind } from '../fields/field-type.ts';
import {
  comparePoints,
  type Interval,
  intervalOf,
  type NumberPoint,
  queryPointOf,
} from '../fields/number-point.ts';
import { type Condition, type DocTest, matchNothing, matchTested } from '../filter/condition.ts';
import { grown } from '../growth.ts';
import { float64, type PartReader, type Parts } from '../snapshot/parts.ts';
import type { Column } from './column.ts';
import { boundsOf, PointSet, pointsOf } from './point-test.ts';

const boundsPerDoc = 4;
/** The cost of testing a doc, in units of the work budget. */
const intervalUnits = 10;

/**
 * Ranges as closed intervals with a point for each end. `equals` and `in` match if a value is in the range. Ordering operators
 * match if any part of the range satisfies them (docs/reference/indexes-and-queries.md "Filters"). A range of integers or dates
 * only contains integers or milliseconds. An empty range (`gt 3, lt 4`) contains nothing.
 */
export class RangeColumn implements Column {
  readonly present: Bitmap;
  readonly #kind: ValueKind;
  #bounds: Float64Array;

  constructor(capacity: number, kind: ValueKind) {
    this.present = new Bitmap(capacity);
    this.#kind = kind;
    this.#bounds = new Float64Array(capacity * boundsPerDoc);
  }

  get bytes(): number {
    return this.#bounds.byteLength;
  }

  set(doc: number, value: Json): null {
    const interval = intervalOf(this.#kind, value);
    if (interval === null) return null;
    const { low, high } = interval;
    this.#bounds.set([low.approx, low.residual, high.approx, high.residual], doc * boundsPerDoc);
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    this.present.remove(doc);
    return null;
  }

  *parts(): Parts {
    yield* this.present.parts();
    yield this.#bounds;
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
    this.#bounds = await from.numbers(float64);
  }

  *grow(capacity: number): Steps<void> {
    this.#bounds = yield* grown(this.#bounds, new Float64Array(capacity * boundsPerDoc), 0);
    this.present.grow(capacity);
  }

  *match(condition: Condition): Steps<DocTest> {
    const accepts = yield* this.#acceptor(condition);
    if (accepts === null) return matchNothing;
    return matchTested((doc) => {
      if (!this.present.has(doc)) return false;
      workBudget.units += intervalUnits;
      const interval = this.#intervalAt(doc);
      return comparePoints(interval.low, interval.high) <= 0 && accepts(interval);
    });
  }

  order(): null {
    return null;
  }

  #intervalAt(doc: number): Interval {
    const at = doc * boundsPerDoc;
    const bounds = this.#bounds;
    return {
      low: { approx: bounds[at] ?? 0, residual: bounds[at + 1] ?? 0 },
      high: { approx: bounds[at + 2] ?? 0, residual: bounds[at + 3] ?? 0 },
    };
  }

  /** Compiles a condition to a test of nonempty intervals; null if none can match. */
  *#acceptor(condition: Condition): Steps<((interval: Interval) => boolean) | null> {
    const { operator, value } = condition;
    if (operator === 'contains') return null;
    if (operator === 'equals' || operator === 'in') {
      return yield* this.#holder(yield* pointsOf(this.#kind, condition));
    }
    const point = queryPointOf(this.#kind, value);
    if (point === null) return null;
    const { low: from, high: to } = boundsOf(operator, point);
    return ({ low, high }) => comparePoints(high, from) >= 0 && comparePoints(low, to) <= 0;
  }

  /** A test whether any of the points is in an interval; null if none can be. */
  *#holder(points: readonly NumberPoint[]): Steps<((interval: Interval) => boolean) | null> {
    const isWhole = this.#kind === 'integer' || this.#kind === 'long' || this.#kind === 'date';
    const possible = isWhole ? points.filter((point) => Number.isInteger(point.approx)) : points;
    if (possible.length === 0) return null;
    const set = yield* PointSet.of(possible);
    return (interval) => set.hasBetween(interval);
  }
}
