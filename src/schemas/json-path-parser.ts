import { joinParts } from './expression.ts';
import { parseHole } from './expression-parser.ts';
import { type ComparisonOperator, compareValues, comparisonOperators } from './json-path-compare.ts';
import { type FunctionResult, pathFunctions } from './json-path-functions.ts';
import {
  constantOperand,
  holeOperand,
  type Operand,
  stringOperand,
  valueOfSingle,
} from './json-path-operand.ts';
import type { PathTest, PathValue } from './json-path-run.ts';
import {
  absoluteQuery,
  filterSelector,
  holeSelector,
  indexSelector,
  nameSelector,
  type Query,
  relativeQuery,
  type Segment,
  type Selector,
  sliceSelector,
  wildcardSelector,
} from './json-path-select.ts';
import { parsePathString } from './json-path-string.ts';
import type { Reader } from './reader.ts';
import type { Evaluate, Scope } from './scope.ts';
import { adviceForUnknown } from './suggest.ts';

/**
 * A recursive descent over RFC 9535's grammar, with holes: as a literal in a filter, as a name or an index in
 * brackets, and within quoted text. A hole is a value of the tree from the start, so no value can become syntax.
 */
export class PathParser {
  readonly #reader: Reader;
  readonly #scope: Scope;

  constructor(reader: Reader, scope: Scope) {
    this.#reader = reader;
    this.#scope = scope;
  }

  /** @throws SyntaxMistake */
  parseWhole(): Query {
    this.#takeRoot();
    const query = absoluteQuery(this.#parseSegments('$'));
    if (!this.#reader.atEnd) throw this.#reader.expected('`.`, `[` or the end of the path');
    return query;
  }

  /** The leading `$.` is optional; the first segment then stands without its dot. */
  #takeRoot(): void {
    if (this.#reader.take('$')) return;
    const standsAlone = this.#reader.startsWith('[') || this.#reader.startsWith('.');
    if (!standsAlone) this.#bareFirst = true;
  }

  #bareFirst = false;

  #parseSegments(base: '$' | '@'): Segment[] {
    const segments: Segment[] = [];
    for (;;) {
      const start = this.#reader.position;
      this.#reader.skipSpace();
      const segment = this.#parseSegment(base === '$' && segments.length === 0);
      if (segment === null) {
        this.#reader.position = start;
        return segments;
      }
      segments.push(segment);
    }
  }

  #parseSegment(atRoot: boolean): Segment | null {
    const reader = this.#reader;
    if (this.#bareFirst) {
      this.#bareFirst = false;
      return { descendant: false, selectors: [this.#parseShorthand(atRoot)] };
    }
    if (reader.take('..')) {
      const bracketed = reader.next === '[';
      const selectors = bracketed ? this.#parseBrackets(false) : [this.#parseShorthand(false)];
      return { descendant: true, selectors };
    }
    if (reader.next === '[') return { descendant: false, selectors: this.#parseBrackets(atRoot) };
    if (!reader.take('.')) return null;
    return { descendant: false, selectors: [this.#parseShorthand(atRoot)] };
  }

  #parseShorthand(atRoot: boolean): Selector {
    if (this.#reader.take('*')) return wildcardSelector;
    const start = this.#reader.position;
    const name = this.#reader.next === '$' ? null : this.#reader.takeIdentifier();
    if (name === null || name.includes('$')) throw this.#reader.expected('a name or `*`', start);
    return this.#nameSelector(name, atRoot, start);
  }

  #nameSelector(name: string, atRoot: boolean, start: number): Selector {
    const find = this.#scope.find(name);
    if (!atRoot || find !== null) return nameSelector(name, find);
    const advice = `A property of the entity is written \`$.p.${name}\`. ${adviceForUnknown(name, this.#scope.names)}`;
    throw this.#reader.mistake(`nothing is called \`${name}\` here`, advice, start);
  }

  #parseBrackets(atRoot: boolean): Selector[] {
    const reader = this.#reader;
    reader.expect('[');
    const selectors: Selector[] = [];
    do {
      reader.skipSpace();
      selectors.push(this.#parseSelector(atRoot));
      reader.skipSpace();
    } while (reader.take(','));
    reader.expect(']', '`,` or `]`');
    return selectors;
  }

  #parseSelector(atRoot: boolean): Selector {
    const reader = this.#reader;
    if (reader.take('*')) return wildcardSelector;
    if (reader.take('?')) {
      reader.skipSpace();
      return filterSelector(reader.nested(() => this.#parseOr()));
    }
    if (reader.next === '{') return this.#holeSelector(parseHole(reader, this.#scope));
    if (reader.next === "'" || reader.next === '"') {
      const start = reader.position;
      const name = parsePathString(reader, this.#scope);
      if (name.constant !== null) return this.#nameSelector(name.constant, atRoot, start);
      return this.#holeSelector((frame) => joinParts(name.parts, frame));
    }
    return this.#parseIndexOrSlice();
  }

  #holeSelector(hole: Evaluate): Selector {
    return holeSelector(hole, (name) => this.#scope.find(name));
  }

  #parseIndexOrSlice(): Selector {
    const reader = this.#reader;
    const start = this.#takeInteger();
    reader.skipSpace();
    if (!reader.take(':')) {
      if (start === null) throw reader.expected('a name in quotes, `*`, an index, a slice or a filter `?…`');
      return indexSelector(start);
    }
    reader.skipSpace();
    const end = this.#takeInteger();
    reader.skipSpace();
    if (!reader.take(':')) return sliceSelector(start, end, 1);
    reader.skipSpace();
    return sliceSelector(start, end, this.#takeInteger() ?? 1);
  }

  #takeInteger(): number | null {
    const start = this.#reader.position;
    const text = this.#reader.takeNumber();
    if (text === null) return null;
    const value = Number(text);
    if (/^(?:0|-?[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value)) return value;
    throw this.#reader.expected('a whole number within ±(2^53 - 1)', start);
  }

  #parseOr(): PathTest {
    const tests = [this.#parseAnd()];
    while (this.#takeOperator('||')) tests.push(this.#parseAnd());
    const [only] = tests;
    if (tests.length === 1 && only !== undefined) return only;
    return (run, current) => tests.some((test) => test(run, current));
  }

  #parseAnd(): PathTest {
    const tests = [this.#parseBasic()];
    while (this.#takeOperator('&&')) tests.push(this.#parseBasic());
    const [only] = tests;
    if (tests.length === 1 && only !== undefined) return only;
    return (run, current) => tests.every((test) => test(run, current));
  }

  /** Steps over an operator and the white space around it. */
  #takeOperator(operator: string): boolean {
    const start = this.#reader.position;
    this.#reader.skipSpace();
    if (this.#reader.take(operator)) {
      this.#reader.skipSpace();
      return true;
    }
    this.#reader.position = start;
    return false;
  }

  #parseBasic(): PathTest {
    const reader = this.#reader;
    if (!reader.take('!')) return reader.next === '(' ? this.#parseGroup() : this.#parseComparisonOrTest();
    reader.skipSpace();
    const test = reader.next === '(' ? this.#parseGroup() : this.#parseTest(this.#parseOperand());
    return (run, current) => !test(run, current);
  }

  #parseGroup(): PathTest {
    const reader = this.#reader;
    reader.expect('(');
    reader.skipSpace();
    const test = reader.nested(() => this.#parseOr());
    reader.skipSpace();
    reader.expect(')', '`&&`, `||` or the closing parenthesis `)`');
    return test;
  }

  #parseComparisonOrTest(): PathTest {
    const start = this.#reader.position;
    const left = this.#parseOperand();
    const operator = this.#takeComparison();
    if (operator === null) return this.#parseTest(left, start);
    const leftValue = this.#comparable(left, start);
    const rightStart = this.#reader.position;
    const rightValue = this.#comparable(this.#parseOperand(), rightStart);
    return compareValues(leftValue, operator, rightValue);
  }

  #takeComparison(): ComparisonOperator | null {
    return comparisonOperators.find((operator) => this.#takeOperator(operator)) ?? null;
  }

  #parseTest(operand: Operand, start = this.#reader.position): PathTest {
    if (operand.kind === 'test') return operand.test;
    if (operand.kind === 'nodes') {
      const { nodes } = operand;
      return (run, current) => nodes(run, current).length > 0;
    }
    throw this.#reader.mistake('a value alone is no condition', 'Compare it: `@.size > 3`.', start);
  }

  #comparable(operand: Operand, start: number): PathValue {
    if (operand.kind === 'value') return operand.value;
    if (operand.kind === 'nodes' && operand.singular) return valueOfSingle(operand);
    const what =
      operand.kind === 'test' ? 'a condition cannot be compared' : 'a path of many values cannot be compared';
    throw this.#reader.mistake(what, 'Compare a path of names and indexes, a literal or a value.', start);
  }

  #parseOperand(): Operand {
    const reader = this.#reader;
    if (reader.take('@')) return this.#queryOperand(relativeQuery(this.#parseSegments('@')));
    if (reader.take('$')) return this.#queryOperand(absoluteQuery(this.#parseSegments('$')));
    if (reader.next === '{') return holeOperand(parseHole(reader, this.#scope));
    if (reader.next === "'" || reader.next === '"')
      return stringOperand(parsePathString(reader, this.#scope));
    const number = reader.takeNumber();
    if (number !== null) return constantOperand(Number(number));
    return this.#parseNamed();
  }

  #queryOperand({ nodes, singular }: Query): Operand {
    return { kind: 'nodes', nodes, singular };
  }

  #parseNamed(): Operand {
    const start = this.#reader.position;
    const name = this.#reader.takeIdentifier();
    if (this.#reader.next === '(' && name !== null) return this.#parseFunction(name, start);
    if (name === 'true') return constantOperand(true);
    if (name === 'false') return constantOperand(false);
    if (name === 'null') return constantOperand(null);
    throw this.#reader.expected('`@`, `$`, a literal, a function or `(`', start);
  }

  #parseFunction(name: string, start: number): FunctionResult {
    const definition = pathFunctions.get(name);
    if (definition === undefined) {
      const advice = adviceForUnknown(name, pathFunctions.keys());
      throw this.#reader.mistake(`there is no function \`${name}\``, advice, start);
    }
    const args = this.#reader.nested(() => this.#parseArguments());
    if (args.length !== definition.parameters.length) {
      const count = definition.parameters.length;
      throw this.#reader.mistake(
        `\`${name}\` takes ${count} argument${count === 1 ? '' : 's'}`,
        'Count them.',
        start,
      );
    }
    const values: PathValue[] = [];
    const nodes: Query['nodes'][] = [];
    for (const [index, parameter] of definition.parameters.entries()) {
      const argument = args[index];
      if (argument === undefined) continue;
      if (parameter === 'value') values.push(this.#comparable(argument, start));
      else if (argument.kind === 'nodes') nodes.push(argument.nodes);
      else throw this.#reader.mistake(`\`${name}\` takes a path`, 'Write a path: `@.tags[*]`.', start);
    }
    return definition.make(values, nodes);
  }

  #parseArguments(): Operand[] {
    const reader = this.#reader;
    reader.expect('(');
    const args: Operand[] = [];
    do {
      reader.skipSpace();
      args.push(this.#parseOperand());
      reader.skipSpace();
    } while (reader.take(','));
    reader.expect(')', '`,` or `)`');
    return args;
  }
}
