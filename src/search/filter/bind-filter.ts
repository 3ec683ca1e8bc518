import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
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
import type { Matcher } from './matcher.ts';
import { AllOf, AnyOf, Complement, ConditionMatcher, type ConditionNode } from './node-matchers.ts';

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
