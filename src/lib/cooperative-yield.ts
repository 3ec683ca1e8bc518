/**
 * Lets long work pause for others. Work that may take long is written as steps: a generator that yields where it may
 * pause. Its inner loops are plain functions over a range, because loops in generators are slow. They stop when it is
 * time to look at the clock, and return how far they got.
 */

export type Steps<T> = Generator<undefined, T, undefined>;

/** Work that is not done yet, with the steps that are left. */
export class Suspended<T> {
  constructor(readonly steps: Steps<T>) {}
}

export type Resumable<T> = T | Suspended<T>;

/** Calls `next` with a result, immediately if the result is there, else after its steps. */
export function chain<A, B>(made: Resumable<A>, next: (made: A) => Resumable<B>): Resumable<B> {
  return made instanceof Suspended ? new Suspended(chainLater(made.steps, next)) : next(made);
}

function* chainLater<A, B>(steps: Steps<A>, next: (made: A) => Resumable<B>): Steps<B> {
  const made = next(yield* steps);
  return made instanceof Suspended ? yield* made.steps : made;
}

/** Does the steps 0, 1, 2… until one of them returns false. It may pause between two of them. */
export function repeat(step: (at: number) => Resumable<boolean>): Resumable<void> {
  for (let at = 0; ; at += 1) {
    const isMore = step(at);
    if (isMore === false) return;
    if (isMore instanceof Suspended) return new Suspended(repeatLater(step, at + 1, isMore.steps));
    if (workBudget.isOver()) return new Suspended(repeatLater(step, at + 1, null));
  }
}

/** @param begun what is left of the step before `from`; null when that is done */
function* repeatLater(
  step: (at: number) => Resumable<boolean>,
  from: number,
  begun: Steps<boolean> | null,
): Steps<void> {
  if (begun === null) yield;
  else if (!(yield* begun)) return;
  for (let at = from; ; at += 1) {
    const made = step(at);
    const isMore = made instanceof Suspended ? yield* made.steps : made;
    if (!isMore) return;
    if (workBudget.isOver()) yield;
  }
}

/** Does something with each of the items, one after the other. It may pause between them. */
export function forEach<T>(items: readonly T[], work: (item: T) => Resumable<void>): Resumable<void> {
  return repeat((at) => {
    const item = items[at];
    return item === undefined ? false : chain(work(item), isMore);
  });
}

const isMore = (): boolean => true;

/** Maps the items, one after the other. */
export function mapInTurn<T, R>(
  items: readonly T[],
  make: (item: T, at: number) => Resumable<R>,
): Resumable<R[]> {
  const made: R[] = [];
  for (const item of items) {
    const one = make(item, made.length);
    if (one instanceof Suspended) return new Suspended(mapLater(items, make, made, one.steps));
    made.push(one);
    if (workBudget.isOver()) return new Suspended(mapLater(items, make, made, null));
  }
  return made;
}

/** @param begun what is left of the item after those in `made`; null when that has not begun */
function* mapLater<T, R>(
  items: readonly T[],
  make: (item: T, at: number) => Resumable<R>,
  made: R[],
  begun: Steps<R> | null,
): Steps<R[]> {
  if (begun === null) yield;
  else made.push(yield* begun);
  for (const item of items.slice(made.length)) {
    const one = make(item, made.length);
    made.push(one instanceof Suspended ? yield* one.steps : one);
    if (workBudget.isOver()) yield;
  }
  return made;
}

/** Most things that are looked at in one go, where each takes a unit. */
export const unitsPerGo = 65_536;

const neverOver = (): boolean => false;

class WorkBudget {
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
export const workBudget = new WorkBudget();

/** Runs the steps to their end immediately, whatever the clock says. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the steps that are left, without a pause. @returns the result */
export function finish<T>(made: Resumable<T>): T {
  workBudget.clock = neverOver;
  return made instanceof Suspended ? atOnce(made.steps) : made;
}
