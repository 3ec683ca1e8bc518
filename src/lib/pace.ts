/**
 * Lets long work pause for others. Work that may take long is written as steps: a generator that yields where it may
 * pause. Its inner loops are plain functions over a range, because loops in generators are slow. They stop when it is
 * time to look at the clock, and return how far they got.
 */

export type Steps<T> = Generator<undefined, T, undefined>;

/** Work that is not done yet, with the steps that are left. */
export class Unfinished<T> {
  constructor(readonly steps: Steps<T>) {}
}

export type Maybe<T> = T | Unfinished<T>;

/** Calls `next` with a result, immediately if the result is there, else after its steps. */
export function chain<A, B>(made: Maybe<A>, next: (made: A) => Maybe<B>): Maybe<B> {
  return made instanceof Unfinished ? new Unfinished(chainLater(made.steps, next)) : next(made);
}

function* chainLater<A, B>(steps: Steps<A>, next: (made: A) => Maybe<B>): Steps<B> {
  const made = next(yield* steps);
  return made instanceof Unfinished ? yield* made.steps : made;
}

/** Does the steps 0, 1, 2… until one of them returns false. It may pause between two of them. */
export function repeat(step: (at: number) => Maybe<boolean>): Maybe<void> {
  for (let at = 0; ; at += 1) {
    const isMore = step(at);
    if (isMore === false) return;
    if (isMore instanceof Unfinished) return new Unfinished(repeatLater(step, at + 1, isMore.steps));
    if (pace.isOver()) return new Unfinished(repeatLater(step, at + 1, null));
  }
}

/** @param begun what is left of the step before `from`; null when that is done */
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

/** Does something with each of the items, one after the other. It may pause between them. */
export function forEach<T>(items: readonly T[], work: (item: T) => void): Maybe<void> {
  return repeat((at) => {
    const item = items[at];
    if (item !== undefined) work(item);
    return at + 1 < items.length;
  });
}

/** Maps the items, one after the other. */
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

/** @param begun what is left of the item after those in `made`; null when that has not begun */
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

/** Most things that are looked at in one go, where each takes a unit. */
export const unitsPerGo = 65_536;

const neverOver = (): boolean => false;

class Pace {
  /** Work since the last look at the clock, as a whole number. All work that can take long adds to it. */
  units = 0;
  /**
   * Units between two looks at the clock: some 0.1 ms. A unit is about the time for a look at a doc or a character, a
   * few nanoseconds.
   */
  unitsPerLook = 20_000;
  /** True when the time is over. The code that runs steps sets it. */
  clock: () => boolean = neverOver;

  /** True when the work should pause now. It looks at the clock only when enough was done since the last look. */
  isOver(): boolean {
    if (this.units < this.unitsPerLook) return false;
    this.units = 0;
    return this.clock();
  }
}

/** All work shares it, because one thing is computed at a time in a process. */
export const pace = new Pace();

/** Runs the steps to their end immediately, whatever the clock says. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the steps that are left, without a pause. @returns the result */
export function finish<T>(made: Maybe<T>): T {
  pace.clock = neverOver;
  return made instanceof Unfinished ? atOnce(made.steps) : made;
}
