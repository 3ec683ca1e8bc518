import type { Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { current } from '../phase.ts';
import { type ConditionNode, scanAll } from './condition-matcher.ts';
import type { DocTest } from './doc-test.ts';
import type { Matcher } from './matcher.ts';
import { siftBy } from './sift.ts';

/** The live docs for which a condition does not hold. */
export class RestOf implements Matcher {
  readonly few = null;
  readonly #other: DocTest;
  readonly #live: Bitmap;
  readonly #node: ConditionNode;

  /** @param node condition that the cost counts for */
  constructor(other: DocTest, live: Bitmap, node: ConditionNode) {
    this.#other = other;
    this.#live = live;
    this.#node = node;
  }

  *scan(into: Bitmap, docCount: number): Steps<void> {
    current.enter('filters', this.#node);
    const rest = new Bitmap(docCount);
    yield* scanAll(this.#other, rest, docCount);
    rest.complement(this.#live);
    into.unite(rest);
  }

  *sift(docs: Int32Array, count: number): Steps<number> {
    current.enter('filters', this.#node);
    return yield* siftBy((doc) => this.#live.has(doc) && !this.#other.test(doc), docs, count);
  }
}
