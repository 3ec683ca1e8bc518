/** A condition on a field: as a query states it, and as a test of the docs of a shard, which the column of the field makes. */
import type { Json } from '../../contract/json.ts';
import type { FilterOperator } from '../../contract/query-names.ts';
import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';

/** Each operator that asks for the opposite of another one. */
export const opposites = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
} as const satisfies Partial<Record<CheckedOperator, CheckedOperator>>;

/** An operator that asks for something in a value. */
export type PositiveOperator = Exclude<CheckedOperator, keyof typeof opposites>;

/** A condition on one field, as a column sees it. No value is null: nulls are taken out of the list of `in`. */
export interface Condition {
  readonly operator: PositiveOperator;
  readonly value: Json;
  readonly caseInsensitive: boolean;
}

/** The values that `equals` or `in` lists. */
export function listedValues({ operator, value }: Condition): readonly Json[] {
  return operator === 'in' && Array.isArray(value) ? value : [value];
}

/** `exists` is written with `equals` and `notEquals`. */
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
  /** Tests a doc, in time bounded by the doc's own values. Work beyond a few comparisons is added to the pace. */
  readonly test: (doc: number) => boolean;
  /** Adds matching docs to the set, beginning at `from`. @returns the next doc to look at; `docCount` at the end */
  scan(into: Bitmap, from: number, docCount: number): number;
  /** All matching docs, if the column knows them without a scan; else null. */
  readonly few: Listing | null;
}

/** The values of one field, as a filter sees them. */
export interface FilteredColumn {
  /** Docs that have the field. */
  readonly present: Bitmap;
  /** The docs with a value for which the condition holds. Any item of a list and any part of a range will do. */
  match(condition: Condition): Steps<DocTest>;
}

/** Docs that can be listed without a scan. */
export interface Listing {
  readonly count: number;
  /** Writes each of them into `out` once. @returns how many */
  list(out: Int32Array): number;
}

export const matchNothing: DocTest = {
  test: () => false,
  scan: (_into, _from, docCount) => docCount,
  few: { count: 0, list: () => 0 },
};

/** The docs of a set, which are those that have a field, or all. */
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

/** Docs that were found, by a list of them. */
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

/** The docs that pass a test. They are found by testing all docs. */
export function matchTested(test: (doc: number) => boolean): DocTest {
  return { test, scan: (into, from, docCount) => scanTested(test, into, from, docCount), few: null };
}

/** End of the next range of docs. Each doc adds a unit to the pace. */
export function endOfGo(from: number, docCount: number): number {
  const end = Math.min(docCount, from + unitsPerGo);
  workBudget.units += end - from;
  return end;
}

/** Scans a range of docs. It stops early when the tests themselves add much to the pace. */
function scanTested(test: (doc: number) => boolean, into: Bitmap, from: number, docCount: number): number {
  const end = Math.min(docCount, from + unitsPerGo);
  const { unitsPerLook } = workBudget;
  let doc = from;
  while (doc < end) {
    if (test(doc)) into.add(doc);
    doc += 1;
    if (workBudget.units >= unitsPerLook) break;
  }
  workBudget.units += doc - from;
  return doc;
}
