import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Column } from '../columns/column.ts';
import { NumberColumn } from '../columns/number-column.ts';
import { NumberListColumn } from '../columns/number-list-column.ts';

/** The numbers or dates of a field, by doc. */
export interface NumberItems {
  countAt(doc: number): number;
  /** @param at below `countAt`; a list's items ascend */
  approxAt(doc: number, at: number): number;
  residualAt(doc: number, at: number): number;
}

/** Counts numbers; see `NumberPoint`. */
export interface NumberTally {
  /** Adds an item of the current doc. The items of a doc ascend. */
  add(approx: number, residual: number): void;
  /** Called after the last item of a doc. */
  endDoc(): void;
}

/** The numbers of a column; null for other columns. */
export function numbersOf(column: Column | undefined): NumberItems | null {
  return column instanceof NumberColumn || column instanceof NumberListColumn ? column : null;
}

/** The cost of an item for each tally, in units of the work budget. */
const unitsPerItem = 15;

/** Adds the numbers of the first `count` docs to each tally. */
export function* tallyNumbers(
  items: NumberItems,
  docs: Int32Array,
  count: number,
  tallies: readonly NumberTally[],
): Steps<void> {
  for (let at = 0; at < count; ) {
    at = tallySome(items, docs, at, count, tallies);
    if (workBudget.isOver()) yield;
  }
}

/** @returns where to continue */
function tallySome(
  items: NumberItems,
  docs: Int32Array,
  from: number,
  end: number,
  tallies: readonly NumberTally[],
): number {
  let at = from;
  while (at < end && workBudget.units < workBudget.unitsPerClockCheck) {
    const doc = docs[at] ?? 0;
    const count = items.countAt(doc);
    workBudget.units += 1 + unitsPerItem * count * tallies.length;
    for (const tally of tallies) {
      for (let item = 0; item < count; item += 1) {
        tally.add(items.approxAt(doc, item), items.residualAt(doc, item));
      }
      if (count > 0) tally.endDoc();
    }
    at += 1;
  }
  return at;
}
