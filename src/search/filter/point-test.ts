import { comparePoints, type NumberPoint, queryPointOf } from '../columns/number-point.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { type Condition, listedValues } from './condition.ts';

/** What a condition asks of a number: to lie between two points, both included, or to be one of several. */
export type PointTest =
  | { readonly kind: 'none' }
  | { readonly kind: 'between'; readonly low: NumberPoint; readonly high: NumberPoint }
  | { readonly kind: 'among'; readonly points: PointSet };

const none: PointTest = { kind: 'none' };
const lowest: NumberPoint = { approx: -Infinity, residual: 0 };
const highest: NumberPoint = { approx: Infinity, residual: 0 };

/** The condition as a test of points; values that are no number of the kind are equal to nothing. */
export function pointTest(kind: ValueKind, condition: Condition): PointTest {
  if (condition.operator === 'in') return amongTest(pointsOf(kind, condition));
  const point = queryPointOf(kind, condition.value);
  if (point === null) return none;
  switch (condition.operator) {
    case 'greaterThan':
      return { kind: 'between', low: justAbove(point), high: highest };
    case 'greaterThanOrEquals':
      return { kind: 'between', low: point, high: highest };
    case 'lessThan':
      return { kind: 'between', low: lowest, high: justBelow(point) };
    case 'lessThanOrEquals':
      return { kind: 'between', low: lowest, high: point };
    default:
      return { kind: 'between', low: point, high: point };
  }
}

/** The points that `equals` or `in` lists. */
export function pointsOf(kind: ValueKind, condition: Condition): NumberPoint[] {
  const points: NumberPoint[] = [];
  for (const value of listedValues(condition)) {
    const point = queryPointOf(kind, value);
    if (point !== null) points.push(point);
  }
  return points;
}

/** Residuals are whole, so that one more is the next: an approximation alone then never reaches it. */
export function justAbove({ approx, residual }: NumberPoint): NumberPoint {
  return { approx, residual: residual + 1 };
}

export function justBelow({ approx, residual }: NumberPoint): NumberPoint {
  return { approx, residual: residual - 1 };
}

function amongTest(points: NumberPoint[]): PointTest {
  const [first] = points;
  if (first === undefined) return none;
  if (points.length === 1) return { kind: 'between', low: first, high: first };
  return { kind: 'among', points: new PointSet(points) };
}

/** Points in order, to be found by halving. */
export class PointSet {
  readonly #approx: Float64Array;
  readonly #residual: Float64Array;

  constructor(points: NumberPoint[]) {
    const sorted = points.sort(comparePoints);
    this.#approx = Float64Array.from(sorted, (point) => point.approx);
    this.#residual = Float64Array.from(sorted, (point) => point.residual);
  }

  has(approx: number, residual: number): boolean {
    const at = this.#firstFrom(approx, residual);
    return this.#approx[at] === approx && this.#residual[at] === residual;
  }

  /** Whether some point lies between the two, both included. */
  hasBetween(low: NumberPoint, high: NumberPoint): boolean {
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
