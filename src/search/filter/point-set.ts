import type { Steps } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import { comparePoints, type NumberPoint } from '../columns/number-point.ts';

/** A set of points in order, with a binary search. */
export class PointSet {
  readonly #approx: Float64Array;
  readonly #residual: Float64Array;

  private constructor(inOrder: readonly NumberPoint[]) {
    this.#approx = Float64Array.from(inOrder, (point) => point.approx);
    this.#residual = Float64Array.from(inOrder, (point) => point.residual);
  }

  /** Makes a set of points in any order. This takes steps, because a query may list a hundred thousand. */
  static *of(points: readonly NumberPoint[]): Steps<PointSet> {
    return new PointSet(yield* sorted(points, comparePoints));
  }

  has(approx: number, residual: number): boolean {
    const at = this.#firstFrom(approx, residual);
    return this.#approx[at] === approx && this.#residual[at] === residual;
  }

  /** True when some point lies between the two, both included. */
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
