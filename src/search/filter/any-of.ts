import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import type { Matcher } from './matcher.ts';
import { keepBy } from './sift.ts';

/** The docs that at least one matcher matches. */
export class AnyOf implements Matcher {
  readonly few = null;
  readonly #matchers: readonly Matcher[];
  readonly #docCount: number;

  constructor(matchers: readonly Matcher[], docCount: number) {
    this.#matchers = matchers;
    this.#docCount = docCount;
  }

  *scan(into: Bitmap, docCount: number): Steps<void> {
    for (const matcher of this.#matchers) {
      yield* matcher.scan(into, docCount);
      if (workBudget.isOver()) yield;
    }
  }

  /** One matcher goes through all docs before the next one does, because a thousand matchers would take long for one doc. */
  *sift(docs: Int32Array, count: number): Steps<number> {
    const found = new Bitmap(this.#docCount);
    const left = docs.slice(0, count);
    let leftCount = count;
    for (const matcher of this.#matchers) {
      const some = left.slice(0, leftCount);
      const matching = yield* matcher.sift(some, leftCount);
      for (let at = 0; at < matching; at += 1) found.add(some[at] ?? 0);
      leftCount = keepBy((doc) => !found.has(doc), left, leftCount);
      if (leftCount === 0) break;
      if (workBudget.isOver()) yield;
    }
    return keepBy((doc) => found.has(doc), docs, count);
  }
}
