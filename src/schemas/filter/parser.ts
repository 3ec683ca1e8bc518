import { adviceForUnknown } from '../../lib/suggest.ts';
import { isEntityField } from '../build/entity-value.ts';
import type { Reader } from '../language/reader.ts';
import type { Scope } from '../language/scope.ts';
import {
  comparisons,
  type FilterNode,
  type FilterPath,
  isOperator,
  type Operand,
  type QueryValues,
  textFunctions,
} from './node.ts';
import { OperandParser } from './operand-parser.ts';

const pathAdvice = 'Paths start at the matched entity: `properties.title`, `type`, `originId`.';
const entityNames = ['properties', 'p', 'type', 'originId', 'originParentId', 'url', 'redirects', 'id'];
const operatorWords = [...Object.keys(comparisons), 'in'];

/**
 * Parses the filter language of docs/reference/mapping-language.md "Filters":
 *
 *     or      = and { "or" and }
 *     and     = not { "and" not }
 *     not     = [ "not" ] ( "(" or ")" | function "(" path "," operand ")" | path condition )
 *     condition = comparison operand | "in" ( "(" operand { "," operand } ")" | hole )
 *               | "/" ( "any" | "all" ) "(" variable ":" or ")"
 *     operand = "'" text "'" | number | "true" | "false" | "null" | hole
 *
 * A filter of code has no holes, and its lists may be empty (docs/guide/writing-schemas.md "Filters"). A hole becomes a value
 * in the tree, so the data of an entity cannot change the meaning of a filter.
 */
export class FilterParser {
  readonly #reader: Reader;
  readonly #operands: OperandParser;
  readonly #mayBeEmpty: boolean;
  readonly #variables: string[] = [];

  /** @param scope null for a filter of code, without holes */
  constructor(reader: Reader, scope: Scope | null, values: QueryValues) {
    this.#reader = reader;
    this.#mayBeEmpty = scope === null;
    this.#operands = new OperandParser(reader, scope, values);
  }

  /** @throws SchemaSyntaxError */
  parseWhole(): FilterNode {
    const node = this.#parseOr();
    if (!this.#reader.atEnd) throw this.#reader.expected('`and`, `or` or the end of the filter');
    return node;
  }

  #parseOr(): FilterNode {
    return this.#parseJoined('or', () => this.#parseJoined('and', () => this.#parseNot()));
  }

  #parseJoined(kind: 'and' | 'or', parse: () => FilterNode): FilterNode {
    const first = parse();
    const nodes = [first];
    while (this.#takeWord(kind)) nodes.push(parse());
    return nodes.length === 1 ? first : { kind, nodes };
  }

  /** White space is skipped after every token, so that each parser starts at a token. */
  #takeWord(word: string): boolean {
    const taken = this.#reader.takeWord(word);
    if (taken) this.#reader.skipSpace();
    return taken;
  }

  #take(token: string): boolean {
    const taken = this.#reader.take(token);
    if (taken) this.#reader.skipSpace();
    return taken;
  }

  #expect(token: string, what?: string): void {
    this.#reader.expect(token, what);
    this.#reader.skipSpace();
  }

  #parseNot(): FilterNode {
    this.#reader.skipSpace();
    if (this.#takeWord('not')) return { kind: 'not', node: this.#reader.nested(() => this.#parseNot()) };
    if (!this.#take('(')) return this.#parseCondition();
    const node = this.#reader.nested(() => this.#parseOr());
    this.#expect(')', '`and`, `or` or the closing parenthesis `)`');
    return node;
  }

  #parseCondition(): FilterNode {
    const start = this.#reader.position;
    const name = this.#reader.takeIdentifier();
    if (name === null) throw this.#reader.expected('a path, `not`, `(` or a function');
    this.#reader.skipSpace();
    if (this.#take('(')) return this.#parseFunction(name, start);
    return this.#parsePathCondition(this.#parsePath(name, start));
  }

  #parseFunction(name: string, start: number): FilterNode {
    if (!isOperator(textFunctions, name)) {
      const advice = adviceForUnknown(name, Object.keys(textFunctions));
      throw this.#reader.syntaxError(`there is no function \`${name}\``, advice, start);
    }
    const pathStart = this.#reader.position;
    const first = this.#reader.takeIdentifier();
    if (first === null) throw this.#reader.expected('a path');
    const path = this.#parsePath(first, pathStart);
    this.#expect(',');
    const operand = this.#parseOperand();
    this.#expect(')');
    return { kind: 'text', function: name, path, operand };
  }

  #parsePath(first: string, start: number): FilterPath {
    const steps: string[] = [];
    for (let step = this.#takeStep(); step !== null; step = this.#takeStep()) steps.push(step);
    this.#reader.skipSpace();
    if (this.#variables.includes(first)) return { variable: first, steps };
    if (first === 'p') return { variable: null, steps: ['properties', ...steps] };
    if (isEntityField(first)) return { variable: null, steps: [first, ...steps] };
    const known = [...this.#variables, ...entityNames];
    const advice = `${pathAdvice} ${adviceForUnknown(first, known)}`;
    throw this.#reader.syntaxError(`an entity has no field \`${first}\``, advice, start);
  }

  /** The next `.name`, `/name` or `['name']`; null at the end of the path, and before `/any(` and `/all(`. */
  #takeStep(): string | null {
    const reader = this.#reader;
    if (this.#quantifierHere() !== null) return null;
    if (reader.take('[')) {
      if (reader.next !== "'") throw reader.expected('a name in quotes');
      const name = this.#operands.takeName();
      reader.expect(']');
      return name;
    }
    if (!reader.take('.') && !reader.take('/')) return null;
    const name = reader.takeIdentifier();
    if (name === null) throw reader.expected('a name');
    return name;
  }

  #quantifierHere(): 'any' | 'all' | null {
    if (this.#reader.startsWith('/any(')) return 'any';
    return this.#reader.startsWith('/all(') ? 'all' : null;
  }

  #parsePathCondition(path: FilterPath): FilterNode {
    const quantifier = this.#quantifierHere();
    if (quantifier !== null) return this.#parseLambda(path, quantifier);
    const start = this.#reader.position;
    const word = this.#reader.takeIdentifier();
    this.#reader.skipSpace();
    if (word === 'in') return this.#parseIn(path);
    if (isOperator(comparisons, word)) {
      return { kind: 'compare', path, operator: word, operand: this.#parseOperand() };
    }
    if (word === null) throw this.#reader.expected(`one of ${operatorWords.join(', ')}`, start);
    throw this.#reader.syntaxError(
      `there is no operator \`${word}\``,
      adviceForUnknown(word, operatorWords),
      start,
    );
  }

  #parseLambda(path: FilterPath, kind: 'any' | 'all'): FilterNode {
    this.#expect(`/${kind}(`);
    const start = this.#reader.position;
    const variable = this.#reader.takeIdentifier();
    if (variable === null) throw this.#reader.expected('a variable: `any(x: x eq 1)`');
    if (this.#variables.includes(variable) || entityNames.includes(variable)) {
      throw this.#reader.syntaxError(
        `the name \`${variable}\` is already in use`,
        'Choose another name.',
        start,
      );
    }
    this.#reader.skipSpace();
    this.#expect(':');
    this.#variables.push(variable);
    const node = this.#reader.nested(() => this.#parseOr());
    this.#variables.pop();
    this.#expect(')', '`and`, `or` or the closing parenthesis `)`');
    return { kind, path, variable, node };
  }

  #parseIn(path: FilterPath): FilterNode {
    if (this.#reader.next === '{' && !this.#mayBeEmpty)
      return { kind: 'in', path, operands: [this.#parseOperand()], spread: true };
    this.#expect('(', this.#mayBeEmpty ? '`(`' : '`(` or a hole');
    const operands: Operand[] = [];
    // Lists in filters of code may be empty, and match nothing then.
    if (this.#mayBeEmpty && this.#take(')')) return { kind: 'in', path, operands, spread: false };
    do operands.push(this.#parseOperand());
    while (this.#take(','));
    this.#expect(')', '`,` or `)`');
    return { kind: 'in', path, operands, spread: false };
  }

  #parseOperand(): Operand {
    const operand = this.#operands.take();
    this.#reader.skipSpace();
    return operand;
  }
}
