import { type Steps, workBudget } from '../cooperative-yield.ts';

/** Number of items that are sorted without a pause; about 0.1 ms. */
const runSync = 512;
/** Minimum cost of a comparison, in units of the work budget. */
const comparisonUnits = 5;

/** A stable merge sort that may pause. */
export function* sorted<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  if (items.length <= runSync) return items.slice().sort(compare);
  const middle = items.length >>> 1;
  const left = yield* sorted(items.slice(0, middle), compare);
  const right = yield* sorted(items.slice(middle), compare);
  workBudget.units += comparisonUnits * Math.min(items.length, 2 * runSync);
  return yield* merged(left, right, compare);
}

/** Merges two sorted lists. Equal items of the first list come first. */
export function* merged<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const all: T[] = [];
  let [l, r] = [0, 0];
  while (all.length < left.length + right.length) {
    [l, r] = mergeSome(left, l, right, r, all, compare);
    if (workBudget.isOver()) yield;
  }
  return all;
}

/** @returns the positions in both lists at which to continue */
function mergeSome<T>(
  left: readonly T[],
  leftFrom: number,
  right: readonly T[],
  rightFrom: number,
  into: T[],
  compare: (a: T, b: T) => number,
): [number, number] {
  let l = leftFrom;
  let r = rightFrom;
  for (let merged = 0; merged < runSync; merged += 1) {
    const a = left[l];
    const b = right[r];
    if (a !== undefined && (b === undefined || compare(a, b) <= 0)) {
      into.push(a);
      l += 1;
    } else if (b !== undefined) {
      into.push(b);
      r += 1;
    } else break;
  }
  workBudget.units += comparisonUnits * runSync;
  return [l, r];
}
