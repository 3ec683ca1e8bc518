import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type Candidates, type Matcher, sparseShare } from './matcher.ts';
import { siftAll } from './sift.ts';

/** The docs that every matcher matches. */
export class AllOf implements Matcher {
  readonly few: Candidates | null;
  readonly #matchers: readonly Matcher[];

  constructor(matchers: readonly Matcher[]) {
    this.#matchers = matchers;
    this.few = fewestOf(matchers);
  }

  /** Scans until few docs are left, which are tested one by one. */
  *scan(into: Bitmap, docCount: number): Steps<void> {
    const [first, ...others] = this.#matchers;
    if (first === undefined) return;
    const all = new Bitmap(docCount);
    yield* first.scan(all, docCount);
    const fewDocs = docCount / sparseShare;
    for (const [at, matcher] of others.entries()) {
      const count = all.countUpTo(fewDocs);
      if (count < fewDocs) {
        yield* siftSet(others.slice(at), all, count);
        break;
      }
      const matching = new Bitmap(docCount);
      yield* matcher.scan(matching, docCount);
      all.intersect(matching);
      if (workBudget.isOver()) yield;
    }
    into.unite(all);
  }

  sift(docs: Int32Array, count: number): Steps<number> {
    return siftAll(this.#matchers, docs, count);
  }
}

/** Keeps the docs of a set that all matchers match. @param count number of docs in the set */
function* siftSet(matchers: readonly Matcher[], set: Bitmap, count: number): Steps<void> {
  const docs = new Int32Array(count);
  const kept = yield* siftAll(matchers, docs, set.list(docs));
  set.words.fill(0);
  for (let at = 0; at < kept; at += 1) set.add(docs[at] ?? 0);
}

/** The docs of the matcher that lists the fewest. Each of them must still pass the other matchers. */
function fewestOf(matchers: readonly Matcher[]): Candidates | null {
  let fewest: Matcher | null = null;
  for (const matcher of matchers) {
    if (matcher.few !== null && matcher.few.count < (fewest?.few?.count ?? Infinity)) fewest = matcher;
  }
  const few = fewest?.few ?? null;
  if (few === null) return null;
  const others = matchers.filter((matcher) => matcher !== fewest);
  return { count: few.count, list: (out) => few.list(out), rest: [...few.rest, ...others] };
}
