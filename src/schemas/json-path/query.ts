/**
 * Compiles a parsed path to functions over JSON values. Each visited value takes a step from the build's budget, and selectors
 * can pause in long arrays, objects and descents.
 */
import { type JSONPathQuery, jsonpath, TokenKind } from 'json-p3';
import type { Json } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { assert } from '../../lib/assert.ts';
import { compareCodePoints, countCodePoints } from '../../lib/code-points.ts';
import { chain, forEach, type Resumable } from '../../lib/cooperative-yield.ts';
import type { Evaluate, Frame } from '../language/scope.ts';
import { jsonEqual, ownMember, textSteps } from '../values.ts';
import { compilePattern, patternTakes } from './i-regexp.ts';
import { eachChild, eachOfSlice, type PathRun, withDescendants } from './run.ts';
import { filledLiteral } from './text.ts';

const { NameSelector, IndexSelector, SliceSelector, WildcardSelector, FilterSelector } = jsonpath.selectors;
const {
  BooleanLiteral,
  FilterQuery,
  FunctionExtension,
  InfixExpression,
  NullLiteral,
  NumberLiteral,
  PrefixExpression,
  RootQuery,
  StringLiteral,
} = jsonpath.expressions;

/** Reads the value of a name of the scope. */
type ReadName = (frame: Frame) => Json | undefined;

/** What the library does not know about a path. */
export interface PathMeaning {
  /** Creates the error for an operand that the library accepts but RFC 9535 does not. */
  readonly notAnOperand: (position: number) => Error;
  readonly holes: readonly Evaluate[];
  /** Returns the reader of a name of the scope; null if it is unknown. */
  readonly find: (name: string) => ReadName | null;
  /** Creates the error for an unknown name at a position of the JSONPath. */
  readonly unknownName: (name: string, position: number) => Error;
}

/** All values that a query selects, in order. */
export type Select = (start: Json, run: PathRun) => Resumable<readonly Json[]>;
/** The one value that a singular query selects. */
type SelectOne = (start: Json, run: PathRun) => Json | undefined;

type Expression = jsonpath.expressions.FilterExpression;
type Condition = (current: Json, run: PathRun) => Resumable<boolean>;
/** Undefined means Nothing (RFC 9535). */
type Operand = (current: Json, run: PathRun) => Resumable<Json | undefined>;

/** Selects among the children of a value. */
type Selector = (value: Json, run: PathRun, into: Json[]) => Resumable<void>;
/** Selects from each of the values. */
type Segment = (values: readonly Json[], run: PathRun) => Resumable<readonly Json[]>;

/**
 * @param base start of the query: `$`, which has the names of the scope in addition to the members of `root`, or the current
 * element of a filter
 * @throws SchemaSyntaxError for an unknown name after `$`
 */
export function compileQuery(query: JSONPathQuery, base: '$' | '@', meaning: PathMeaning): Select {
  if (query.singularQuery()) {
    const one = compileSingular(query, base, meaning);
    return (start, run) => {
      const value = one(start, run);
      return value === undefined ? [] : [value];
    };
  }
  const segments = query.segments.map((segment, index) =>
    compileSegment(segment, base === '$' && index === 0, meaning),
  );
  const begin: Select = (start, run) => [base === '$' ? run.frame.self : start];
  return segments.reduce<Select>(
    (before, segment) => (start, run) => chain(before(start, run), (values) => segment(values, run)),
    begin,
  );
}

function compileSegment(
  { selectors: parsed, token }: jsonpath.JSONPathSegment,
  isFirst: boolean,
  meaning: PathMeaning,
): Segment {
  const descends = token.kind === TokenKind.DDOT;
  const selectors = parsed.map((selector) => compileSelector(selector, isFirst && !descends, meaning));
  const children: Segment = (values, run) => {
    const found: Json[] = [];
    const select = (value: Json) => forEach(selectors, (selector) => selector(value, run, found));
    return chain(forEach(values, select), () => found);
  };
  if (!descends) return children;
  return (values, run) => chain(withDescendants(values, run), (all) => children(all, run));
}

function compileSelector(parsed: jsonpath.JSONPathSelector, atRoot: boolean, meaning: PathMeaning): Selector {
  if (parsed instanceof FilterSelector) {
    const holds = compileCondition(parsed.expression.expression, meaning);
    return (value, run, into) =>
      eachChild(value, run, (child) =>
        chain(holds(child, run), (isWanted) => {
          if (isWanted) into.push(child);
        }),
      );
  }
  const push = (into: Json[]) => (child: Json) => {
    into.push(child);
  };
  if (parsed instanceof WildcardSelector) return (value, run, into) => eachChild(value, run, push(into));
  if (parsed instanceof SliceSelector) {
    return (value, run, into) => eachOfSlice(parsed, value, run, push(into));
  }
  const one = compileStep(parsed, atRoot, meaning);
  return (value, run, into) => {
    const child = one(value, run);
    if (child !== undefined) into.push(child);
  };
}

/** Compiles a query with only names and indexes, which selects at most one value. */
function compileSingular(query: JSONPathQuery, base: '$' | '@', meaning: PathMeaning): SelectOne {
  const steps = query.segments.map(({ selectors: [selector] }, index) =>
    compileStep(selector, base === '$' && index === 0, meaning),
  );
  return (start, run) => {
    let value: Json | undefined = base === '$' ? run.frame.self : start;
    for (const step of steps) {
      value = step(value, run);
      if (value === undefined) return undefined;
    }
    return value;
  };
}

/** @param atRoot true directly after `$`, where names are those of the scope */
function compileStep(
  parsed: jsonpath.JSONPathSelector | undefined,
  atRoot: boolean,
  meaning: PathMeaning,
): SelectOne {
  if (parsed instanceof IndexSelector) {
    const { index } = parsed;
    return (value, run) => {
      run.spend(1);
      return elementOf(value, index);
    };
  }
  assert(parsed instanceof NameSelector, 'a singular query has names and indexes alone');
  const { name, token } = parsed;
  const { find } = meaning;
  const hole = filledLiteral(name, meaning.holes);
  if (hole !== null) {
    return (value, run) => {
      run.spend(1);
      const key = run.filled(hole);
      if (typeof key === 'number') return elementOf(value, key);
      if (typeof key !== 'string') return undefined;
      return atRoot ? find(key)?.(run.frame) : ownMember(value, key);
    };
  }
  const read = atRoot ? find(name) : null;
  if (atRoot && read === null) throw meaning.unknownName(name, token.index);
  return (value, run) => {
    run.spend(1);
    return read === null ? ownMember(value, name) : read(run.frame);
  };
}

function elementOf(value: Json, index: number): Json | undefined {
  return Array.isArray(value) && Number.isInteger(index) ? value.at(index) : undefined;
}

function compileCondition(parsed: Expression, meaning: PathMeaning): Condition {
  if (parsed instanceof PrefixExpression) {
    const holds = compileCondition(parsed.right, meaning);
    return (current, run) => chain(holds(current, run), (isTrue) => !isTrue);
  }
  if (parsed instanceof InfixExpression) {
    return parsed.logical ? compileLogical(parsed, meaning) : compileComparison(parsed, meaning);
  }
  if (parsed instanceof FunctionExtension) return compilePatternTest(parsed, meaning);
  const nodes = compileNodes(parsed, meaning);
  return (current, run) => chain(nodes(current, run), (found) => found.length > 0);
}

function compileLogical(parsed: jsonpath.expressions.InfixExpression, meaning: PathMeaning): Condition {
  const left = compileCondition(parsed.left, meaning);
  const right = compileCondition(parsed.right, meaning);
  const decides = parsed.operator === '||';
  return (current, run) =>
    chain(left(current, run), (isTrue) => (isTrue === decides ? isTrue : right(current, run)));
}

function compileComparison(parsed: jsonpath.expressions.InfixExpression, meaning: PathMeaning): Condition {
  const left = compileOperand(parsed.left, meaning);
  const right = compileOperand(parsed.right, meaning);
  const { operator } = parsed;
  return (current, run) =>
    chain(left(current, run), (a) =>
      chain(right(current, run), (b) => compareValues(a, operator, b, run.spend)),
    );
}

function compileOperand(parsed: Expression | undefined, meaning: PathMeaning): Operand {
  if (parsed instanceof StringLiteral) {
    const { value } = parsed;
    const hole = filledLiteral(value, meaning.holes);
    return hole === null ? () => value : (_current, run) => run.filled(hole);
  }
  if (parsed instanceof NumberLiteral || parsed instanceof BooleanLiteral) {
    const { value } = parsed;
    return () => value;
  }
  if (parsed instanceof NullLiteral) return () => null;
  if (parsed instanceof FunctionExtension) return compileFunction(parsed, meaning);
  // The library accepts a comparison of a comparison: `@.a == true == true`.
  if (!(parsed instanceof FilterQuery)) throw meaning.notAnOperand(parsed?.token.index ?? 0);
  return compileSingular(parsed.path, baseOf(parsed), meaning);
}

/** RFC 9535 sections 2.4.4, 2.4.5 and 2.4.8. */
function compileFunction(parsed: jsonpath.expressions.FunctionExtension, meaning: PathMeaning): Operand {
  const [arg] = parsed.args;
  if (parsed.name === 'length') {
    const operand = compileOperand(arg, meaning);
    return (current, run) => chain(operand(current, run), (value) => lengthOf(value, run));
  }
  const nodes = compileNodes(arg, meaning);
  if (parsed.name === 'count') {
    return (current, run) => chain(nodes(current, run), (found) => found.length);
  }
  assert(parsed.name === 'value', 'the parser knows five functions');
  return (current, run) => chain(nodes(current, run), (found) => (found.length === 1 ? found[0] : undefined));
}

/** The length of strings is in code points, not in UTF-16 units. */
function lengthOf(value: Json | undefined, run: PathRun): number | undefined {
  if (typeof value === 'string') {
    run.spend(value.length);
    return countCodePoints(value);
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return value.length;
  const { length } = namesOf(value);
  run.spend(length);
  return length;
}

/**
 * `match` or `search` (RFC 9535 sections 2.4.6 and 2.4.7): false if the value is not a string or the pattern is invalid. With
 * our own implementation, because the library uses JavaScript's patterns, which can take exponential time.
 */
function compilePatternTest(parsed: jsonpath.expressions.FunctionExtension, meaning: PathMeaning): Condition {
  const [text, pattern] = parsed.args.map((arg) => compileOperand(arg, meaning));
  assert(text !== undefined && pattern !== undefined, 'the parser counts arguments');
  const extent = parsed.name === 'match' ? 'whole' : 'part';
  return (current, run) =>
    chain(text(current, run), (a) =>
      chain(pattern(current, run), (b) => {
        if (typeof a !== 'string' || typeof b !== 'string') return false;
        const compiled = compilePattern(b, run.spend);
        return compiled !== null && patternTakes(compiled, a, extent, run.spend);
      }),
    );
}

function compileNodes(parsed: Expression | undefined, meaning: PathMeaning): Select {
  assert(parsed instanceof FilterQuery, 'nodes are selected by a query');
  return compileQuery(parsed.path, baseOf(parsed), meaning);
}

function baseOf(query: jsonpath.expressions.FilterQuery): '$' | '@' {
  return query instanceof RootQuery ? '$' : '@';
}

/**
 * RFC 9535 section 2.3.5.2.2: equality is deep and typed; only two numbers or two strings are ordered, strings by code points.
 * The library's comparison orders by UTF-16 units, reads members of prototypes and has no limit.
 * @param spend called with the work of the comparison; may throw to stop it
 */
export function compareValues(
  a: Json | undefined,
  operator: string,
  b: Json | undefined,
  spend: (steps: number) => void,
): boolean {
  spend(textSteps(a, b));
  switch (operator) {
    case '==':
      return jsonEqual(a, b, spend);
    case '!=':
      return !jsonEqual(a, b, spend);
    case '<':
      return less(a, b);
    case '>':
      return less(b, a);
    case '<=':
      return less(a, b) || jsonEqual(a, b, spend);
    case '>=':
      return less(b, a) || jsonEqual(a, b, spend);
    default:
      return false;
  }
}

function less(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return typeof a === 'string' && typeof b === 'string' && compareCodePoints(a, b) < 0;
}
