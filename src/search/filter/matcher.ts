import type { Steps } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import type { Listing } from './doc-test.ts';

/** A filter, or a part of one, bound to the docs of a shard. Only live docs ever match. */
export interface Matcher {
  /** Adds the matching docs below `docCount` to the set. */
  scan(into: Bitmap, docCount: number): Steps<void>;
  /** Keeps those of the first `count` docs that match, in their order. @returns how many match */
  sift(docs: Int32Array, count: number): Steps<number>;
  readonly few: Candidates | null;
}

/** The few docs that can match. */
export interface Candidates extends Listing {
  /** The matchers that a listed doc must pass as well. */
  readonly rest: readonly Matcher[];
}

/**
 * Docs are tested one by one when they are fewer than one in this number. A scan goes through memory in order, which
 * takes about a fifth of the time for a doc, but it looks at all docs.
 */
export const sparseShare = 5;
