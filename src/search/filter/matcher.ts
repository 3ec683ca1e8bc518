/** A filter bound to the docs of a shard. It scans all docs for matches, or sifts a list of docs. */
import { itemsPerStep, type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import type { Listing } from './condition.ts';

/** A filter, or a part of one, bound to the docs of a shard. Only live docs ever match. */
export interface Matcher {
  /** Adds the matching docs below `docCount` to the set. */
  scan(into: Bitmap, docCount: number): Steps<void>;
  /** Keeps the matching ones of the first `count` docs, in order. @returns their number */
  sift(docs: Int32Array, count: number): Steps<number>;
  readonly few: Candidates | null;
}

/** A short list of all docs that can match. */
export interface Candidates extends Listing {
  /** Further matchers that listed docs must pass. */
  readonly rest: readonly Matcher[];
}

/**
 * Docs are tested individually if they are less than one in this number. A scan takes about a fifth of the time per doc,
 * because it reads memory sequentially, but must test all docs.
 */
export const sparseShare = 5;

/** Keeps the listed docs that all matchers match. @returns their number */
export function* siftAll(matchers: readonly Matcher[], docs: Int32Array, count: number): Steps<number> {
  let left = count;
  for (const matcher of matchers) {
    if (left === 0) break;
    left = yield* matcher.sift(docs, left);
  }
  return left;
}

/** Keeps the listed docs that pass a test, in order. The test may take long. @returns their number */
export function* siftBy(passes: (doc: number) => boolean, docs: Int32Array, count: number): Steps<number> {
  const sifting = { at: 0, kept: 0 };
  for (;;) {
    siftSome(passes, docs, count, sifting);
    if (sifting.at === count) return sifting.kept;
    if (workBudget.isOver()) yield;
  }
}

/** Like `siftBy`, for a very cheap test. */
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
  const { unitsPerClockCheck } = workBudget;
  const from = sifting.at;
  const end = Math.min(count, from + itemsPerStep);
  let { at, kept } = sifting;
  while (at < end) {
    const doc = docs[at] ?? 0;
    at += 1;
    if (passes(doc)) {
      docs[kept] = doc;
      kept += 1;
    }
    if (workBudget.units >= unitsPerClockCheck) break;
  }
  workBudget.units += at - from;
  sifting.at = at;
  sifting.kept = kept;
}
