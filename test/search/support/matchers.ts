/** Builds matchers from sets of docs, and runs them. */

import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { Bitmap } from '../../../src/search/bitmap.ts';
import { ConditionMatcher } from '../../../src/search/filter/bind-filter.ts';
import { matchSet, matchTested } from '../../../src/search/filter/condition.ts';
import type { Matcher } from '../../../src/search/filter/matcher.ts';

export function setOf(docs: Iterable<number>, capacity: number): Bitmap {
  const set = new Bitmap(capacity);
  for (const doc of docs) set.add(doc);
  return set;
}

/** Matches the given docs. With `isListed`, it can list them without a scan. */
export function matcherOf(docs: readonly number[], capacity: number, isListed = false): Matcher {
  const set = setOf(docs, capacity);
  const listed = [...new Set(docs)];
  const few = {
    count: listed.length,
    list: (out: Int32Array) => {
      out.set(listed);
      return listed.length;
    },
  };
  const docTest = isListed ? { ...matchTested((doc) => set.has(doc)), few } : matchSet(set);
  return new ConditionMatcher(docTest, null);
}

/** The docs below `docCount` that a scan finds. */
export function scanned(matcher: Matcher, docCount: number): number[] {
  const set = new Bitmap(docCount);
  runSync(matcher.scan(set, docCount));
  return listOf(set, docCount);
}

/** The docs that match. */
export function sifted(matcher: Matcher, docs: readonly number[]): number[] {
  const list = Int32Array.from(docs);
  return [...list.subarray(0, runSync(matcher.sift(list, list.length)))];
}

export function listOf(set: Bitmap, docCount: number): number[] {
  const out = new Int32Array(docCount);
  return [...out.subarray(0, set.list(out))];
}
