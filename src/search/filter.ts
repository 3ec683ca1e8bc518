import type { Json } from '../contract/json.ts';
import { Bitmap } from './bitmap.ts';
import type { Column } from './column.ts';
import type { PositiveOperator } from './condition.ts';
import { type Candidates, type Matcher, matchNothing, matchSet, sparseShare } from './matcher.ts';
import type { FilterNode } from './types.ts';

/** What a filter is bound to. */
export interface FilterScope {
  /** Every doc there is. */
  readonly live: Bitmap;
  /** Undefined: no doc has the field. */
  column(field: string): Column | undefined;
}

/** A filter bound to the docs of a shard (contract section 7). */
export function bindFilter(node: FilterNode, scope: FilterScope): Matcher {
  if (node.kind === 'condition') return bindCondition(node, scope);
  const matchers = node.nodes.map((member) => bindFilter(member, scope));
  const [only] = matchers;
  if (only === undefined) return matchSet(scope.live);
  if (matchers.length === 1) return only;
  return node.kind === 'and' ? matchAll(matchers) : matchAny(matchers);
}

type ConditionNode = Extract<FilterNode, { kind: 'condition' }>;

function bindCondition(node: ConditionNode, scope: FilterScope): Matcher {
  const column = scope.column(node.field);
  const { operator, value, caseInsensitive } = node;
  if (operator === 'notEquals') {
    if (value === null) return column === undefined ? matchNothing : matchSet(column.present);
    return matchRest(bindValue(column, 'equals', value, caseInsensitive), scope.live);
  }
  if (operator === 'equals' && value === null) return matchAbsent(column, scope.live);
  if (operator !== 'in' || !Array.isArray(value) || !value.includes(null)) {
    return bindValue(column, operator, value, caseInsensitive);
  }
  const listed = value.filter((item) => item !== null);
  return matchAny([matchAbsent(column, scope.live), bindValue(column, operator, listed, caseInsensitive)]);
}

function bindValue(
  column: Column | undefined,
  operator: PositiveOperator,
  value: Json,
  caseInsensitive: boolean,
): Matcher {
  return column === undefined ? matchNothing : column.match({ operator, value, caseInsensitive });
}

function matchAbsent(column: Column | undefined, live: Bitmap): Matcher {
  return column === undefined ? matchSet(live) : matchRest(matchSet(column.present), live);
}

/** The live docs that the other does not match. */
function matchRest(other: Matcher, live: Bitmap): Matcher {
  return {
    test: (doc) => live.has(doc) && !other.test(doc),
    scan: (into, docCount) => {
      const rest = new Bitmap(docCount);
      other.scan(rest, docCount);
      rest.complement(live);
      into.unite(rest);
    },
    few: null,
  };
}

function matchAll(matchers: readonly Matcher[]): Matcher {
  const [first, ...others] = matchers;
  if (first === undefined) return matchNothing;
  return {
    test: (doc) => passesAll(matchers, doc),
    scan: (into, docCount) => {
      const all = new Bitmap(docCount);
      first.scan(all, docCount);
      for (const other of others) narrow(all, other, docCount);
      into.unite(all);
    },
    few: fewestOf(matchers),
  };
}

/** A loop: this is called for every doc of a condition that few docs meet. */
function passesAll(matchers: readonly Matcher[], doc: number): boolean {
  for (let at = 0; at < matchers.length; at += 1) if (matchers[at]?.test(doc) === false) return false;
  return true;
}

function narrow(all: Bitmap, matcher: Matcher, docCount: number): void {
  if (all.countUpTo(docCount / sparseShare) < docCount / sparseShare) {
    all.retain((doc) => matcher.test(doc));
    return;
  }
  const matching = new Bitmap(docCount);
  matcher.scan(matching, docCount);
  all.intersect(matching);
}

function matchAny(matchers: readonly Matcher[]): Matcher {
  return {
    test: (doc) => matchers.some((matcher) => matcher.test(doc)),
    scan: (into, docCount) => {
      for (const matcher of matchers) matcher.scan(into, docCount);
    },
    few: null,
  };
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
  const { count, rest } = few;
  return { count, list: (out) => few.list(out), rest: bothOf(rest, restOf(others)) };
}

function restOf(matchers: readonly Matcher[]): Candidates['rest'] {
  const [only] = matchers;
  if (only === undefined) return null;
  return matchers.length === 1 ? only.test : (doc) => passesAll(matchers, doc);
}

function bothOf(one: Candidates['rest'], other: Candidates['rest']): Candidates['rest'] {
  if (one === null || other === null) return one ?? other;
  return (doc) => one(doc) && other(doc);
}
