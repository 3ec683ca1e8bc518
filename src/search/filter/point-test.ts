import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type NumberPoint, queryPointOf } from '../columns/number-point.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { type Condition, listedValues } from './condition.ts';
import { PointSet } from './point-set.ts';

/** A condition on a number: it must lie between two points, both included, or be one of several. */
export type PointTest =
  | { readonly kind: 'none' }
  | { readonly kind: 'between'; readonly low: NumberPoint; readonly high: NumberPoint }
  | { readonly kind: 'among'; readonly points: PointSet };

const none: PointTest = { kind: 'none' };
export const lowest: NumberPoint = { approx: -Infinity, residual: 0 };
export const highest: NumberPoint = { approx: Infinity, residual: 0 };
/** The cost of reading a listed value, in units of the pace. */
const unitsPerListed = 20;

/** The condition as a test of points. A value that is not a number of the kind is equal to nothing. */
export function* pointTest(kind: ValueKind, condition: Condition): Steps<PointTest> {
  if (condition.operator === 'in') return yield* amongTest(yield* pointsOf(kind, condition));
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

/** The next point above. Residuals are whole numbers, so one more is the next. */
export function justAbove({ approx, residual }: NumberPoint): NumberPoint {
  return { approx, residual: residual + 1 };
}

export function justBelow({ approx, residual }: NumberPoint): NumberPoint {
  return { approx, residual: residual - 1 };
}

function* amongTest(points: readonly NumberPoint[]): Steps<PointTest> {
  const [first] = points;
  if (first === undefined) return none;
  if (points.length === 1) return { kind: 'between', low: first, high: first };
  return { kind: 'among', points: yield* PointSet.of(points) };
}
