/**
 * Lets long-running work yield to other work. It is written as steps: a generator that yields where it may pause. Inner
 * loops are plain functions over a range, because loops in generators are slow. They stop when the clock is due to be
 * checked, and return how far they got.
 */

export type Steps<T> = Generator<undefined, T, undefined>;

/** Unfinished work, with its remaining steps. */
export class Suspended<T> {
  constructor(readonly steps: Steps<T>) {}
}

export type Resumable<T> = T | Suspended<T>;

/** Calls `next` with a result: immediately if it is available, otherwise after its steps. */
export function chain<A, B>(work: Resumable<A>, next: (result: A) => Resumable<B>): Resumable<B> {
  return work instanceof Suspended ? new Suspended(chainLater(work.steps, next)) : next(work);
}

function* chainLater<A, B>(steps: Steps<A>, next: (result: A) => Resumable<B>): Steps<B> {
  const rest = next(yield* steps);
  return rest instanceof Suspended ? yield* rest.steps : rest;
}

/** Runs the steps 0, 1, 2… until one of them returns false. It may pause between steps. */
export function repeat(step: (at: number) => Resumable<boolean>): Resumable<void> {
  for (let at = 0; ; at += 1) {
    const isMore = step(at);
    if (isMore === false) return;
    if (isMore instanceof Suspended) return new Suspended(repeatLater(step, at + 1, isMore.steps));
    if (workBudget.isOver()) return new Suspended(repeatLater(step, at + 1, null));
  }
}

/** @param begun the remaining work of the step before `from`; null if it is done */
function* repeatLater(
  step: (at: number) => Resumable<boolean>,
  from: number,
  begun: Steps<boolean> | null,
): Steps<void> {
  if (begun === null) yield;
  else if (!(yield* begun)) return;
  for (let at = from; ; at += 1) {
    const work = step(at);
    const isMore = work instanceof Suspended ? yield* work.steps : work;
    if (!isMore) return;
    if (workBudget.isOver()) yield;
  }
}

/** Visits the items in order. It may pause between them. */
export function forEach<T>(items: readonly T[], work: (item: T) => Resumable<void>): Resumable<void> {
  return repeat((at) => {
    const item = items[at];
    return item === undefined ? false : chain(work(item), isMore);
  });
}

const isMore = (): boolean => true;

/** Maximum number of items that a plain loop visits before it returns to the steps, at one unit each. */
export const itemsPerStep = 65_536;

const neverOver = (): boolean => false;

class WorkBudget {
  /** Work since the last check of the clock, an integer. All long-running work adds to it. */
  units = 0;
  /**
   * Units between two checks of the clock: about 0.1 ms. A unit is about the time to visit a doc or a character, a few
   * nanoseconds.
   */
  unitsPerClockCheck = 20_000;
  /** True when the time slice is over. The code that runs steps sets it. */
  clock: () => boolean = neverOver;

  /** True when the work should pause now. Checks the clock only after enough work. */
  isOver(): boolean {
    if (this.units < this.unitsPerClockCheck) return false;
    this.units = 0;
    return this.clock();
  }
}

/** Shared by all work of the process, because only one task computes at a time. */
export const workBudget = new WorkBudget();

/** Runs the steps to their end immediately, whatever the clock says. */
export function runSync<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Runs the remaining steps without a pause. @returns the result */
export function finish<T>(work: Resumable<T>): T {
  workBudget.clock = neverOver;
  return work instanceof Suspended ? runSync(work.steps) : work;
}
