import { itemsPerStep, type Steps, workBudget } from '../lib/cooperative-yield.ts';

type Numbers = Float64Array | Int32Array | Uint32Array | Int16Array | Uint16Array;

/**
 * Copies the numbers of an array into a larger one, in steps, because touching new memory takes longer than copying.
 * @param blank value for the remaining elements
 * @returns the larger array
 */
export function* grown<A extends Numbers>(numbers: Numbers, larger: A, blank: number): Steps<A> {
  for (let from = 0; from < numbers.length; from += itemsPerStep) {
    larger.set(numbers.subarray(from, from + itemsPerStep), from);
    workBudget.units += itemsPerStep;
    if (workBudget.isOver()) yield;
  }
  // A new array is already zeroed.
  if (blank === 0) return larger;
  for (let from = numbers.length; from < larger.length; from += itemsPerStep) {
    larger.fill(blank, from, from + itemsPerStep);
    workBudget.units += itemsPerStep;
    if (workBudget.isOver()) yield;
  }
  return larger;
}
