import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { current } from '../phase.ts';
import {
  type DocTest,
  type FilteredColumn,
  type FilterNode,
  matchNothing,
  matchSet,
  opposites,
  type PositiveOperator,
} from './condition.ts';
import { type Candidates, keepBy, type Matcher, siftAll, siftBy, sparseShare } from './matcher.ts';

/** The docs and columns to which a filter is bound. */
export interface FilterScope {
  /** All docs in use. */
  readonly live: Bitmap;
  /** All doc ids are below this. */
  readonly docCount: number;
  /** Undefined if no doc has the field. */
  column(field: string): FilteredColumn | undefined;
}

/** Binds a filter to the docs of a shard (docs/reference/indexes-and-queries.md "Filters"). */
export function* bindFilter(node: FilterNode, scope: FilterScope): Steps<Matcher> {
  if (node.kind === 'condition') return yield* bindCondition(node, scope);
  const matchers: Matcher[] = [];
  for (const member of node.nodes) {
    matchers.push(yield* bindFilter(member, scope));
    if (workBudget.isOver()) yield;
  }
  const [only] = matchers;
  if (only === undefined) return new ConditionMatcher(matchSet(scope.live), null);
  if (matchers.length === 1) return only;
  return node.kind === 'and' ? new AllOf(matchers) : new AnyOf(matchers, scope.docCount);
}

/** Binds a condition. Columns have no nulls, so conditions on absent values are handled here. */
function* bindCondition(node: ConditionNode, scope: FilterScope): Steps<Matcher> {
  const column = scope.column(node.field);
  const { operator, value } = node;
  current.enter('filters', node);
  if (operator === 'notEquals' && value === null) return new ConditionMatcher(presentIn(column), node);
  if (operator === 'equals' && value === null) return absentFrom(column, scope.live, node);
  if (operator === 'notIn' && Array.isArray(value) && value.includes(null)) {
    const listed = value.filter((item) => item !== null);
    const others = new Complement(yield* bindValue(column, 'in', listed, node), scope.live, node);
    return new AllOf([new ConditionMatcher(presentIn(column), node), others]);
  }
  if (operator === 'notEquals' || operator === 'notIn' || operator === 'notContains') {
    return new Complement(yield* bindValue(column, opposites[operator], value, node), scope.live, node);
  }
  if (operator !== 'in' || !Array.isArray(value) || !value.includes(null)) {
    return new ConditionMatcher(yield* bindValue(column, operator, value, node), node);
  }
  const listed = value.filter((item) => item !== null);
  const present = new ConditionMatcher(yield* bindValue(column, operator, listed, node), node);
  return new AnyOf([absentFrom(column, scope.live, node), present], scope.docCount);
}

function* bindValue(
  column: FilteredColumn | undefined,
  operator: PositiveOperator,
  value: Json,
  { caseInsensitive }: ConditionNode,
): Steps<DocTest> {
  return column === undefined ? matchNothing : yield* column.match({ operator, value, caseInsensitive });
}

function presentIn(column: FilteredColumn | undefined): DocTest {
  return column === undefined ? matchNothing : matchSet(column.present);
}

function absentFrom(column: FilteredColumn | undefined, live: Bitmap, node: ConditionNode): Matcher {
  return new Complement(presentIn(column), live, node);
}

type ConditionNode = Extract<FilterNode, { kind: 'condition' }>;

/** Matches docs that fulfil a condition. */
export class ConditionMatcher implements Matcher {
  readonly few: Candidates | null;
  readonly #docs: DocTest;
  readonly #node: ConditionNode | null;

  /** @param node condition that the cost is attributed to */
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
function* scanAll(docs: DocTest, into: Bitmap, docCount: number): Steps<void> {
  for (let scanned = 0; scanned < docCount; ) {
    scanned = docs.scan(into, scanned, docCount);
    if (workBudget.isOver()) yield;
  }
}

/** Matches live docs that do not fulfil a condition. */
export class Complement implements Matcher {
  readonly few = null;
  readonly #other: DocTest;
  readonly #live: Bitmap;
  readonly #node: ConditionNode;

  /** @param node condition that the cost is attributed to */
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

/** Matches docs that at least one matcher matches. */
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

  /**
   * Each matcher tests all docs before the next one starts, because a thousand matchers would take too long without a pause.
   */
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

/** Matches docs that every matcher matches. */
export class AllOf implements Matcher {
  readonly few: Candidates | null;
  readonly #matchers: readonly Matcher[];

  constructor(matchers: readonly Matcher[]) {
    this.#matchers = matchers;
    this.few = fewestOf(matchers);
  }

  /** Scans until few docs are left, then tests those individually. */
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

/** The candidates of the matcher that lists the fewest docs. They must still pass the other matchers. */
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
