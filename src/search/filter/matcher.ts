import type { Bitmap } from '../bitmap.ts';
import { docsPerGo, type Maybe, pace } from '../pace.ts';

/** A condition bound to the docs of a shard. Only live docs ever match. */
export interface DocTest {
  /** What it takes is bounded by the doc's own values; what is more than a few comparisons it adds to the pace. */
  readonly test: (doc: number) => boolean;
  /** Adds matching docs from `from` on to the set, and returns the next one to look at; `docCount`: that were all. */
  scan(into: Bitmap, from: number, docCount: number): number;
  /** A short way to few docs: all those that match, when there are not many. */
  readonly few: Listing | null;
}

/** Docs that can be listed without a scan. */
export interface Listing {
  readonly count: number;
  /** Writes them into `out`, each once, and returns how many. */
  list(out: Int32Array): number;
}

/** A filter, or a part of one, bound to the docs of a shard. Only live docs ever match. */
export interface Matcher {
  /** Adds the matching docs below `docCount` to the set. */
  scan(into: Bitmap, docCount: number): Maybe<void>;
  /** Keeps those of the listed docs that match, in their order, and returns how many. */
  sift(docs: Int32Array, count: number): Maybe<number>;
  readonly few: Candidates | null;
}

/** Few docs that can match. */
export interface Candidates extends Listing {
  /** What a listed doc must pass to match. */
  readonly rest: readonly Matcher[];
}

/**
 * Docs that are fewer than one in so many are tested one by one. A scan takes about a fifth of that for each doc, because it
 * goes through memory in order, but looks at all of them.
 */
export const sparseShare = 5;

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

/** End of a range of docs that each take a unit. */
export function endOfGo(from: number, docCount: number): number {
  const end = Math.min(docCount, from + docsPerGo);
  pace.units += end - from;
  return end;
}

/** The `scan` of a test that takes longer for one doc than for another, and adds that to the pace. */
export function scanTested(
  test: (doc: number) => boolean,
  into: Bitmap,
  from: number,
  docCount: number,
): number {
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
