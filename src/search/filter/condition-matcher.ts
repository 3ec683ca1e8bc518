import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import { current } from '../phase.ts';
import type { FilterNode } from './condition.ts';
import type { DocTest } from './doc-test.ts';
import type { Candidates, Matcher } from './matcher.ts';
import { siftBy } from './sift.ts';

export type ConditionNode = Extract<FilterNode, { kind: 'condition' }>;

/** The docs for which one condition holds. */
export class ConditionMatcher implements Matcher {
  readonly few: Candidates | null;
  readonly #docs: DocTest;
  readonly #node: ConditionNode | null;

  /** @param node condition that the cost counts for */
  constructor(docs: DocTest, node: ConditionNode | null) {
    this.#docs = docs;
    this.#node = node;
    const { few } = docs;
    this.few = few && { count: few.count, list: (out) => few.list(out), rest: [] };
  }

  *scan(into: Bitmap, docCount: number): Steps<void> {
    current.enter('filters', this.#node);
    yield* scanAll(this.#docs, into, docCount);
  }

  *sift(docs: Int32Array, count: number): Steps<number> {
    current.enter('filters', this.#node);
    return yield* siftBy(this.#docs.test, docs, count);
  }
}

/** Adds all matching docs below `docCount` to the set. */
export function* scanAll(docs: DocTest, into: Bitmap, docCount: number): Steps<void> {
  for (let scanned = 0; scanned < docCount; ) {
    scanned = docs.scan(into, scanned, docCount);
    if (workBudget.isOver()) yield;
  }
}
