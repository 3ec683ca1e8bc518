/** A filter bound to the docs of a shard: it scans all docs for those that match, or sifts a list of them. */
import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import type { Listing } from './condition.ts';

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

/** Keeps the listed docs that all matchers match. @returns how many match */
export function* siftAll(matchers: readonly Matcher[], docs: Int32Array, count: number): Steps<number> {
  let left = count;
  for (const matcher of matchers) {
    if (left === 0) break;
    left = yield* matcher.sift(docs, left);
  }
  return left;
}

/** Keeps the listed docs that pass a test, in their order. The test may take long. @returns how many pass */
export function* siftBy(passes: (doc: number) => boolean, docs: Int32Array, count: number): Steps<number> {
  const sifting = { at: 0, kept: 0 };
  for (;;) {
    siftSome(passes, docs, count, sifting);
    if (sifting.at === count) return sifting.kept;
    if (workBudget.isOver()) yield;
  }
}

/** As `siftBy`, for a test that costs next to nothing. */
export function keepBy(passes: (doc: number) => boolean, docs: Int32Array, count: number): number {
  workBudget.units += count;
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const doc = docs[at] ?? 0;
    if (!passes(doc)) continue;
    docs[kept] = doc;
    kept += 1;
  }
  return kept;
}

/** A plain function, because loops in generators are slow. */
function siftSome(
  passes: (doc: number) => boolean,
  docs: Int32Array,
  count: number,
  sifting: { at: number; kept: number },
): void {
  const { unitsPerLook } = workBudget;
  const from = sifting.at;
  const end = Math.min(count, from + unitsPerGo);
  let { at, kept } = sifting;
  while (at < end) {
    const doc = docs[at] ?? 0;
    at += 1;
    if (passes(doc)) {
      docs[kept] = doc;
      kept += 1;
    }
    if (workBudget.units >= unitsPerLook) break;
  }
  workBudget.units += at - from;
  sifting.at = at;
  sifting.kept = kept;
}
