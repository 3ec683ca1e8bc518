/**
 * How long work makes room for others. What may take long is written as steps: a generator that yields where it may
 * pause. Its loops are plain functions over a range, which return how far they got and stop when the clock is worth a
 * look, so that work that ends soon, as nearly all does, costs what it cost without.
 */
import type { FilterNode } from './types.ts';

export type Steps<T> = Generator<undefined, T, undefined>;

/** What was done at once, or the steps that are left of it: most work ends at once, and generators cost it a good part. */
export class Unfinished<T> {
  constructor(readonly steps: Steps<T>) {}
}

export type Maybe<T> = T | Unfinished<T>;

/** What work goes into. `shared`: what is made once for all queries, and is nobody's cost. */
export type Phase = 'filters' | 'search' | 'facets' | 'sort' | 'page' | 'shared';

/** What exactly: a condition of the filters, or the field of a facet; null where the phase says enough. */
export type Detail = Extract<FilterNode, { kind: 'condition' }> | string | null;

/** Docs that are looked at in one go where each takes a unit. */
export const docsPerGo = 65_536;

const neverOver = (): boolean => false;

class Pace {
  /** Work since the last look at the clock. Whatever takes more than a moment adds to it. */
  units = 0;
  /** A unit is about what looking at a doc or a character takes, a few nanoseconds: so many are some 0.1 ms. */
  unitsPerLook = 20_000;
  phase: Phase = 'shared';
  detail: Detail = null;
  /** Whether the time is over. Whoever runs steps sets it. */
  clock: () => boolean = neverOver;

  /** True when the work should pause now. Looks at the clock only when enough was done since. */
  isOver(): boolean {
    if (this.units < this.unitsPerLook) return false;
    this.units = 0;
    return this.clock();
  }

  enter(phase: Phase, detail: Detail = null): void {
    this.phase = phase;
    this.detail = detail;
  }
}

/** One thing is computed at a time in a process, so all share it. */
export const pace = new Pace();

/** Runs steps to their end, without a pause. */
export function finish<T>(steps: Steps<T>): T {
  pace.clock = neverOver;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const insertionMax = 8;

/** The items in order, equal ones as they stood: a merge sort that may pause, since comparing two can take long. */
export function* sorted(items: number[], compare: (a: number, b: number) => number): Steps<number[]> {
  if (items.length <= insertionMax) {
    if (pace.isOver()) yield;
    return items.sort(compare);
  }
  const middle = items.length >>> 1;
  const left = yield* sorted(items.slice(0, middle), compare);
  const right = yield* sorted(items.slice(middle), compare);
  const merged: number[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const [a = 0, b = 0] = [left[l], right[r]];
    if (compare(a, b) <= 0) {
      merged.push(a);
      l += 1;
    } else {
      merged.push(b);
      r += 1;
    }
    if (pace.isOver()) yield;
  }
  while (l < left.length) merged.push(left[l++] ?? 0);
  while (r < right.length) merged.push(right[r++] ?? 0);
  return merged;
}
