import type { Bitmap } from './bitmap.ts';

/** A filter, or a condition of one, bound to the docs of a shard. Only live docs ever match. */
export interface Matcher {
  readonly test: (doc: number) => boolean;
  /** Adds the matching docs below `docCount` to the set. */
  scan(into: Bitmap, docCount: number): void;
  /** A short way to few docs: those that can match, when there are not many. */
  readonly few: Candidates | null;
}

/**
 * Docs that are fewer than one in so many are tested one by one. A scan takes about a fifth of that for each doc, because it
 * goes through memory in order, but looks at all of them.
 */
export const sparseShare = 5;

export interface Candidates {
  readonly count: number;
  /** Writes them into `out`, each once, and returns how many. */
  list(out: Int32Array): number;
  /** What a listed doc must pass to match; null where all of them match. */
  readonly rest: ((doc: number) => boolean) | null;
}

export const matchNothing: Matcher = {
  test: () => false,
  scan: () => {},
  few: { count: 0, list: () => 0, rest: null },
};

/** The docs of a set: those that have a field, or all. */
export function matchSet(set: Bitmap): Matcher {
  return { test: (doc) => set.has(doc), scan: (into) => into.unite(set), few: null };
}
