import type { Json } from '../../contract/json.ts';
import { Bitmap } from '../bitmap.ts';
import type { FilterNode } from '../checked-query.ts';
import type { Column } from '../columns/column.ts';
import { chain, type Maybe, mapInTurn, pace, repeat, type Steps, Unfinished } from '../pace.ts';
import type { PositiveOperator } from './condition.ts';
import { listedValues } from './condition.ts';
import {
  type Candidates,
  type DocTest,
  type Listing,
  type Matcher,
  matchNothing,
  matchSet,
  sparseShare,
} from './matcher.ts';

/** What a filter is bound to. */
export interface FilterScope {
  /** Every doc there is. */
  readonly live: Bitmap;
  /** Docs are below this. */
  readonly docCount: number;
  /** Undefined: no doc has the field. */
  column(field: string): Column | undefined;
}

/** A filter bound to the docs of a shard (docs/reference/indexes-and-queries.md "Filters"). */
export function bindFilter(node: FilterNode, scope: FilterScope): Maybe<Matcher> {
  if (node.kind === 'condition') return bindCondition(node, scope);
  const bound = mapInTurn(node.nodes, (member) => bindFilter(member, scope));
  return chain(bound, (matchers) => joined(node.kind, matchers, scope));
}

function joined(kind: 'and' | 'or', matchers: readonly Matcher[], scope: FilterScope): Matcher {
  const [only] = matchers;
  if (only === undefined) return new Leaf(matchSet(scope.live), null);
  if (matchers.length === 1) return only;
  return kind === 'and' ? new AllOf(matchers) : new AnyOf(matchers, scope.docCount);
}

type ConditionNode = Extract<FilterNode, { kind: 'condition' }>;

function bindCondition(node: ConditionNode, scope: FilterScope): Matcher {
  const column = scope.column(node.field);
  const { operator, value, caseInsensitive } = node;
  pace.enter('filters', node);
  if (operator === 'notEquals') {
    if (value === null) return new Leaf(column === undefined ? matchNothing : matchSet(column.present), node);
    return new RestOf(bindValue(column, 'equals', value, caseInsensitive), scope.live, node);
  }
  if (operator === 'equals' && value === null) return matchAbsent(column, scope.live, node);
  if (operator !== 'in' || !Array.isArray(value) || !value.includes(null)) {
    return new Leaf(bindValue(column, operator, value, caseInsensitive), node);
  }
  const listed = value.filter((item) => item !== null);
  const present = new Leaf(bindValue(column, operator, listed, caseInsensitive), node);
  return new AnyOf([matchAbsent(column, scope.live, node), present], scope.docCount);
}

/** What a value of a list takes to be prepared, in units of the pace. */
const unitsPerListed = 50;

function bindValue(
  column: Column | undefined,
  operator: PositiveOperator,
  value: Json,
  caseInsensitive: boolean,
): DocTest {
  if (column === undefined) return matchNothing;
  const condition = { operator, value, caseInsensitive };
  pace.units += unitsPerListed * listedValues(condition).length;
  return column.match(condition);
}

function matchAbsent(column: Column | undefined, live: Bitmap, node: ConditionNode): Matcher {
  if (column === undefined) return new Leaf(matchSet(live), node);
  return new RestOf(matchSet(column.present), live, node);
}

class Few implements Candidates {
  readonly count: number;
  readonly rest: readonly Matcher[];
  readonly #listing: Listing;

  constructor(listing: Listing, rest: readonly Matcher[]) {
    this.count = listing.count;
    this.rest = rest;
    this.#listing = listing;
  }

  list(out: Int32Array): number {
    return this.#listing.list(out);
  }
}

/** A condition; its node is what its cost is put down to. */
class Leaf implements Matcher {
  readonly few: Candidates | null;
  readonly #docs: DocTest;
  readonly #node: ConditionNode | null;

  constructor(docs: DocTest, node: ConditionNode | null) {
    this.#docs = docs;
    this.#node = node;
    const { few } = docs;
    this.few = few && new Few(few, []);
  }

  scan(into: Bitmap, docCount: number): Maybe<void> {
    pace.enter('filters', this.#node);
    return scanAll(this.#docs, into, docCount);
  }

  sift(docs: Int32Array, count: number): Maybe<number> {
    pace.enter('filters', this.#node);
    return siftBy(this.#docs.test, docs, count);
  }
}

/** The live docs that a condition does not hold for. */
class RestOf implements Matcher {
  readonly few = null;
  readonly #other: DocTest;
  readonly #live: Bitmap;
  readonly #node: ConditionNode;

  constructor(other: DocTest, live: Bitmap, node: ConditionNode) {
    this.#other = other;
    this.#live = live;
    this.#node = node;
  }

  scan(into: Bitmap, docCount: number): Maybe<void> {
    pace.enter('filters', this.#node);
    const rest = new Bitmap(docCount);
    return chain(scanAll(this.#other, rest, docCount), () => {
      rest.complement(this.#live);
      into.unite(rest);
    });
  }

  sift(docs: Int32Array, count: number): Maybe<number> {
    pace.enter('filters', this.#node);
    return siftBy((doc) => this.#live.has(doc) && !this.#other.test(doc), docs, count);
  }
}

class AllOf implements Matcher {
  readonly few: Candidates | null;
  readonly #matchers: readonly Matcher[];

  constructor(matchers: readonly Matcher[]) {
    this.#matchers = matchers;
    this.few = fewestOf(matchers);
  }

  scan(into: Bitmap, docCount: number): Maybe<void> {
    const all = new Bitmap(docCount);
    const scanned = repeat((at) => {
      const matcher = this.#matchers[at];
      if (matcher === undefined) return false;
      if (at === 0) return chain(matcher.scan(all, docCount), isMore);
      const fewDocs = docCount / sparseShare;
      const count = all.countUpTo(fewDocs);
      if (count < fewDocs) return this.#siftFrom(at, all, count);
      const matching = new Bitmap(docCount);
      return chain(matcher.scan(matching, docCount), () => {
        all.intersect(matching);
        return true;
      });
    });
    return chain(scanned, () => into.unite(all));
  }

  /** Keeps the docs of a set that the matchers from one on match. @returns that nothing is left to do */
  #siftFrom(at: number, all: Bitmap, count: number): Maybe<boolean> {
    const docs = new Int32Array(count);
    const sifted = siftAll(this.#matchers.slice(at), docs, all.list(docs));
    return chain(sifted, (kept) => {
      all.words.fill(0);
      for (let place = 0; place < kept; place += 1) all.add(docs[place] ?? 0);
      return false;
    });
  }

  sift(docs: Int32Array, count: number): Maybe<number> {
    return siftAll(this.#matchers, docs, count);
  }
}

class AnyOf implements Matcher {
  readonly few = null;
  readonly #matchers: readonly Matcher[];
  readonly #docCount: number;

  constructor(matchers: readonly Matcher[], docCount: number) {
    this.#matchers = matchers;
    this.#docCount = docCount;
  }

  scan(into: Bitmap, docCount: number): Maybe<void> {
    return repeat((at) => {
      const matcher = this.#matchers[at];
      return matcher === undefined ? false : chain(matcher.scan(into, docCount), isMore);
    });
  }

  /** A condition goes through all docs before the next one does: a doc alone could keep a thousand of them busy. */
  sift(docs: Int32Array, count: number): Maybe<number> {
    const found = new Bitmap(this.#docCount);
    const left = docs.slice(0, count);
    let leftCount = count;
    const tried = repeat((at) => {
      const matcher = this.#matchers[at];
      if (matcher === undefined) return false;
      const some = left.slice(0, leftCount);
      return chain(matcher.sift(some, leftCount), (matching) => {
        for (let place = 0; place < matching; place += 1) found.add(some[place] ?? 0);
        leftCount = keepBy((doc) => !found.has(doc), left, leftCount);
        return leftCount > 0;
      });
    });
    return chain(tried, () => keepBy((doc) => found.has(doc), docs, count));
  }
}

const isMore = (): boolean => true;

function scanAll(docs: DocTest, into: Bitmap, docCount: number): Maybe<void> {
  let scanned = 0;
  return repeat(() => {
    scanned = docs.scan(into, scanned, docCount);
    return scanned < docCount;
  });
}

/** Keeps the listed docs that all of them match. */
export function siftAll(matchers: readonly Matcher[], docs: Int32Array, count: number): Maybe<number> {
  const [only] = matchers;
  if (only === undefined) return count;
  if (matchers.length === 1) return only.sift(docs, count);
  let left = count;
  const sifted = repeat((at) => {
    const matcher = matchers[at];
    if (matcher === undefined) return false;
    return chain(matcher.sift(docs, left), (kept) => {
      left = kept;
      return kept > 0;
    });
  });
  return chain(sifted, () => left);
}

/** Keeps the listed docs that pass, in their order. */
export function siftBy(passes: (doc: number) => boolean, docs: Int32Array, count: number): Maybe<number> {
  pace.units += count;
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const doc = docs[at] ?? 0;
    if (passes(doc)) {
      docs[kept] = doc;
      kept += 1;
    }
    if (pace.units >= pace.unitsPerLook && pace.isOver()) {
      return new Unfinished(siftFrom(at + 1, kept, passes, docs, count));
    }
  }
  return kept;
}

function* siftFrom(
  from: number,
  keptBefore: number,
  passes: (doc: number) => boolean,
  docs: Int32Array,
  count: number,
): Steps<number> {
  yield;
  let kept = keptBefore;
  for (let at = from; at < count; at += 1) {
    const doc = docs[at] ?? 0;
    if (passes(doc)) {
      docs[kept] = doc;
      kept += 1;
    }
    if (pace.units >= pace.unitsPerLook && pace.isOver()) yield;
  }
  return kept;
}

/** As `siftBy`, of a test that takes next to nothing. */
export function keepBy(passes: (doc: number) => boolean, docs: Int32Array, count: number): number {
  pace.units += count;
  let kept = 0;
  for (let at = 0; at < count; at += 1) {
    const doc = docs[at] ?? 0;
    if (!passes(doc)) continue;
    docs[kept] = doc;
    kept += 1;
  }
  return kept;
}

/** Those of the condition that the fewest docs meet; each is left to pass the others. */
function fewestOf(matchers: readonly Matcher[]): Candidates | null {
  let fewest: Matcher | null = null;
  for (const matcher of matchers) {
    if (matcher.few !== null && matcher.few.count < (fewest?.few?.count ?? Infinity)) fewest = matcher;
  }
  const few = fewest?.few ?? null;
  if (few === null) return null;
  const others = matchers.filter((matcher) => matcher !== fewest);
  return new Few(few, [...few.rest, ...others]);
}
