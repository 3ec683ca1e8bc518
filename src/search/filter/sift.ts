import { type Steps, unitsPerGo, workBudget } from '../../lib/cooperative-yield.ts';
import type { Matcher } from './matcher.ts';

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
