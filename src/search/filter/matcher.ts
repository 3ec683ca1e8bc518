import type { Bitmap } from '../bitmap.ts';
import type { Steps } from '../pace.ts';
import type { Listing } from './doc-test.ts';

/** A filter, or a part of one, bound to the docs of a shard. Only live docs ever match. */
export interface Matcher {
  /** Adds the matching docs below `docCount` to the set. */
  scan(into: Bitmap, docCount: number): Steps<void>;
  /** Keeps those of the first `count` docs that match, in their order. @returns how many */
  sift(docs: Int32Array, count: number): Steps<number>;
  readonly few: Candidates | null;
}

/** The few docs that can match. */
export interface Candidates extends Listing {
  /** What a listed doc must pass to match. */
  readonly rest: readonly Matcher[];
}

/**
 * Docs that are fewer than one in so many are tested one by one. A scan takes about a fifth of that for each doc, because
 * it goes through memory in order, but it looks at all of them.
 */
export const sparseShare = 5;
