/** Compiles conditions on numbers and dates to tests of points: an interval or a sorted set. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import type { ValueKind } from '../fields/field-type.ts';
import {
  comparePoints,
  highest,
  type Interval,
  lowest,
  type NumberPoint,
  queryPointOf,
} from '../fields/number-point.ts';
import { type Condition, listedValues, type PositiveOperator } from '../filter/condition.ts';

/** A condition on a number: between two points (inclusive), or one of several. */
export type PointTest =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'between' } & Interval)
  | { readonly kind: 'among'; readonly points: PointSet };

const none: PointTest = { kind: 'none' };
/** The cost of reading a listed value, in units of the work budget. */
const unitsPerListed = 20;

/** Compiles a condition. A value that is not a number of the kind matches nothing. */
export function* pointTest(kind: ValueKind, condition: Condition): Steps<PointTest> {
  if (condition.operator === 'in') return yield* amongTest(yield* pointsOf(kind, condition));
  const point = queryPointOf(kind, condition.value);
  if (point === null) return none;
  return { kind: 'between', ...boundsOf(condition.operator, point) };
}

/** The numbers that an ordering operator accepts; the point itself for other operators. */
export function boundsOf(operator: PositiveOperator, point: NumberPoint): Interval {
  const { approx, residual } = point;
  switch (operator) {
    // Residuals are integers.
    case 'greaterThan':
      return { low: { approx, residual: residual + 1 }, high: highest };
    case 'greaterThanOrEquals':
      return { low: point, high: highest };
    case 'lessThan':
      return { low: lowest, high: { approx, residual: residual - 1 } };
    case 'lessThanOrEquals':
      return { low: lowest, high: point };
    default:
      return { low: point, high: point };
  }
}

/** The points of `equals` or `in`. */
export function* pointsOf(kind: ValueKind, condition: Condition): Steps<NumberPoint[]> {
  const points: NumberPoint[] = [];
  for (const value of listedValues(condition)) {
    const point = queryPointOf(kind, value);
    if (point !== null) points.push(point);
    workBudget.units += unitsPerListed;
    if (workBudget.isOver()) yield;
  }
  return points;
}

function* amongTest(points: readonly NumberPoint[]): Steps<PointTest> {
  const [first] = points;
  if (first === undefined) return none;
  if (points.length === 1) return { kind: 'between', low: first, high: first };
  return { kind: 'among', points: yield* PointSet.of(points) };
}

/** A sorted set of points with binary search. */
export class PointSet {
  readonly #approx: Float64Array;
  readonly #residual: Float64Array;

  private constructor(inOrder: readonly NumberPoint[]) {
    this.#approx = Float64Array.from(inOrder, (point) => point.approx);
    this.#residual = Float64Array.from(inOrder, (point) => point.residual);
  }

  /** Creates a set from unsorted points, in steps, because a query may list a hundred thousand. */
  static *of(points: readonly NumberPoint[]): Steps<PointSet> {
    return new PointSet(yield* sorted(points, comparePoints));
  }

  has(approx: number, residual: number): boolean {
    const at = this.#firstFrom(approx, residual);
    return this.#approx[at] === approx && this.#residual[at] === residual;
  }

  /** True if any point is in the interval. */
  hasBetween({ low, high }: Interval): boolean {
    const at = this.#firstFrom(low.approx, low.residual);
    const approx = this.#approx[at];
    if (approx === undefined) return false;
    return approx < high.approx || (approx === high.approx && (this.#residual[at] ?? 0) <= high.residual);
  }

  #firstFrom(approx: number, residual: number): number {
    let low = 0;
    let high = this.#approx.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const a = this.#approx[middle] ?? 0;
      if (a < approx || (a === approx && (this.#residual[middle] ?? 0) < residual)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
