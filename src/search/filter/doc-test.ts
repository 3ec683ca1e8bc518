import type { Bitmap } from '../bitmap.ts';
import { docsPerGo, pace } from '../pace.ts';

/** A condition bound to the docs of a shard. Only live docs ever match. */
export interface DocTest {
  /** Takes time bounded by the doc's own values. It adds to the pace what is more than a few comparisons. */
  readonly test: (doc: number) => boolean;
  /** Adds matching docs from `from` on to the set. @returns the next doc to look at; `docCount` at the end */
  scan(into: Bitmap, from: number, docCount: number): number;
  /** All matching docs without a scan, where the column knows them; else null. */
  readonly few: Listing | null;
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

/** The docs of a set: those that have a field, or all. */
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

/** The docs that pass a test, which are found by testing all. */
export function matchTested(test: (doc: number) => boolean): DocTest {
  return { test, scan: (into, from, docCount) => scanTested(test, into, from, docCount), few: null };
}

/** End of a range of docs that each take a unit of the pace. */
export function endOfGo(from: number, docCount: number): number {
  const end = Math.min(docCount, from + docsPerGo);
  pace.units += end - from;
  return end;
}

/** Stops early where the tests themselves add much to the pace. */
function scanTested(test: (doc: number) => boolean, into: Bitmap, from: number, docCount: number): number {
  const end = Math.min(docCount, from + docsPerGo);
  const { unitsPerLook } = pace;
  let doc = from;
  while (doc < end) {
    if (test(doc)) into.add(doc);
    doc += 1;
    if (pace.units >= unitsPerLook) break;
  }
  pace.units += doc - from;
  return doc;
}
