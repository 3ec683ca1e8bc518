/**
 * How long work makes room for others. What may take long is written as steps: a generator that yields where it may
 * pause. Its inner loops are plain functions over a range, because loops in generators are slow: they return how far they
 * got, and stop when the clock is worth a look.
 */
import type { FilterNode } from './checked-query.ts';

export type Steps<T> = Generator<undefined, T, undefined>;

/** What was done at once, or the steps that are left of it: how the shard answers `src/query`, which writes answers so. */
export class Unfinished<T> {
  constructor(readonly steps: Steps<T>) {}
}

export type Maybe<T> = T | Unfinished<T>;

/** Goes on with what was made, at once where it is there. */
export function chain<A, B>(made: Maybe<A>, next: (made: A) => Maybe<B>): Maybe<B> {
  return made instanceof Unfinished ? new Unfinished(chainLater(made.steps, next)) : next(made);
}

function* chainLater<A, B>(steps: Steps<A>, next: (made: A) => Maybe<B>): Steps<B> {
  const made = next(yield* steps);
  return made instanceof Unfinished ? yield* made.steps : made;
}

/** Does one step after the other, 0, 1, 2…, until one says that no further one is left; may pause between two of them. */
export function repeat(step: (at: number) => Maybe<boolean>): Maybe<void> {
  for (let at = 0; ; at += 1) {
    const isMore = step(at);
    if (isMore === false) return;
    if (isMore instanceof Unfinished) return new Unfinished(repeatLater(step, at + 1, isMore.steps));
    if (pace.isOver()) return new Unfinished(repeatLater(step, at + 1, null));
  }
}

/** @param begun the step before `from`; null when it is done */
function* repeatLater(
  step: (at: number) => Maybe<boolean>,
  from: number,
  begun: Steps<boolean> | null,
): Steps<void> {
  if (begun === null) yield;
  else if (!(yield* begun)) return;
  for (let at = from; ; at += 1) {
    const made = step(at);
    const isMore = made instanceof Unfinished ? yield* made.steps : made;
    if (!isMore) return;
    if (pace.isOver()) yield;
  }
}

/** What is made of each of the items, one after the other. */
export function mapInTurn<T, R>(items: readonly T[], make: (item: T, at: number) => Maybe<R>): Maybe<R[]> {
  const made: R[] = [];
  for (const item of items) {
    const one = make(item, made.length);
    if (one instanceof Unfinished) return new Unfinished(mapLater(items, make, made, one.steps));
    made.push(one);
    if (pace.isOver()) return new Unfinished(mapLater(items, make, made, null));
  }
  return made;
}

/** @param begun of the item behind those that are made; null when that is not begun */
function* mapLater<T, R>(
  items: readonly T[],
  make: (item: T, at: number) => Maybe<R>,
  made: R[],
  begun: Steps<R> | null,
): Steps<R[]> {
  if (begun === null) yield;
  else made.push(yield* begun);
  for (const item of items.slice(made.length)) {
    const one = make(item, made.length);
    made.push(one instanceof Unfinished ? yield* one.steps : one);
    if (pace.isOver()) yield;
  }
  return made;
}

/** What work goes into. `shared`: what is made once for all queries, and is nobody's cost. */
export type Phase = 'filters' | 'search' | 'facets' | 'sort' | 'page' | 'shared';

/** What exactly: a condition of the filters, or the field of a facet; null where the phase says enough. */
export type Detail = Extract<FilterNode, { kind: 'condition' }> | string | null;

/** Docs that are looked at in one go where each takes a unit. */
export const docsPerGo = 65_536;

const neverOver = (): boolean => false;

class Pace {
  /** Work since the last look at the clock, whole. Whatever takes more than a moment adds to it. */
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

/** Does the steps to their end at once, whatever the clock says. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Does what is left to its end, without a pause. */
export function finish<T>(made: Maybe<T>): T {
  pace.clock = neverOver;
  return made instanceof Unfinished ? atOnce(made.steps) : made;
}
