/** Conditions on fields: the form in queries, and the tests of docs that columns create from them. */
import type { Json } from '../../contract/json.ts';
import type { FilterOperator } from '../../contract/query-names.ts';
import { itemsPerStep, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';

/** Operators that are negations -> the operator that they negate. */
export const opposites = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
} as const satisfies Partial<Record<CheckedOperator, CheckedOperator>>;

/** An operator that is not a negation. */
export type PositiveOperator = Exclude<CheckedOperator, keyof typeof opposites>;

/** A condition in the form for columns. Contains no nulls: those in the list of `in` are handled separately. */
export interface Condition {
  readonly operator: PositiveOperator;
  readonly value: Json;
  readonly caseInsensitive: boolean;
}

/** The values of `equals` or `in`. */
export function listedValues({ operator, value }: Condition): readonly Json[] {
  return operator === 'in' && Array.isArray(value) ? value : [value];
}

/** `exists` is converted to `equals` or `notEquals`. */
export type CheckedOperator = Exclude<FilterOperator, 'exists'>;

export type FilterNode =
  | { readonly kind: 'and' | 'or'; readonly nodes: readonly FilterNode[] }
  | {
      readonly kind: 'condition';
      readonly field: string;
      readonly operator: CheckedOperator;
      readonly value: Json;
      readonly caseInsensitive: boolean;
    };

/** A condition bound to the docs of a shard. Only live docs ever match. */
export interface DocTest {
  /** Tests a doc, in time limited by the doc's own values. Adds work beyond a few comparisons to the work budget. */
  readonly test: (doc: number) => boolean;
  /** Adds matching docs to the set, starting at `from`. @returns the next doc to test; `docCount` at the end */
  scan(into: Bitmap, from: number, docCount: number): number;
  /** All matching docs if the column knows them without a scan; otherwise null. */
  readonly few: Listing | null;
}

/** The values of one field, for filters. */
export interface FilteredColumn {
  /** Docs that have a value. */
  readonly present: Bitmap;
  /** Finds docs with a value that fulfils the condition. Any item of a list or part of a range is enough. */
  match(condition: Condition): Steps<DocTest>;
}

/** A set of docs that can be listed without a scan. */
export interface Listing {
  readonly count: number;
  /** Writes the distinct docs into `out`. @returns their number */
  list(out: Int32Array): number;
}

export const matchNothing: DocTest = {
  test: () => false,
  scan: (_into, _from, docCount) => docCount,
  few: { count: 0, list: () => 0 },
};

/** A test for the docs of a set: those that have a field, or all. */
export function matchSet(set: Bitmap): DocTest {
  return {
    test: (doc) => set.has(doc),
    scan: (into, _from, docCount) => {
      into.unite(set);
      return docCount;
    },
    few: null,
  };
}

/** A test whose matching docs are already listed. */
export function matchListed(docs: Int32Array, test: (doc: number) => boolean): DocTest {
  return {
    test,
    scan: (into, _from, docCount) => {
      into.addAll(docs);
      workBudget.units += docs.length;
      return docCount;
    },
    few: {
      count: docs.length,
      list: (out) => {
        out.set(docs);
        return docs.length;
      },
    },
  };
}

/** A test that can only find docs by testing all of them. */
export function matchTested(test: (doc: number) => boolean): DocTest {
  return { test, scan: (into, from, docCount) => scanTested(test, into, from, docCount), few: null };
}

/** The end of the next range of docs. Adds a unit per doc to the work budget. */
export function endOfGo(from: number, docCount: number): number {
  const end = Math.min(docCount, from + itemsPerStep);
  workBudget.units += end - from;
  return end;
}

/** Scans a range of docs. Stops early if the tests themselves cost much. */
function scanTested(test: (doc: number) => boolean, into: Bitmap, from: number, docCount: number): number {
  const end = Math.min(docCount, from + itemsPerStep);
  const { unitsPerClockCheck } = workBudget;
  let doc = from;
  while (doc < end) {
    if (test(doc)) into.add(doc);
    doc += 1;
    if (workBudget.units >= unitsPerClockCheck) break;
  }
  workBudget.units += doc - from;
  return doc;
}
