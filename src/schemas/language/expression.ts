/** Compiles expressions in schemas: a string with holes, `{"$exp": string}`, or a literal. */
import type { Cursor } from '../../contract/config-cursor.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { languageTextCharactersMax, textCharactersMax } from '../../contract/limits.ts';
import { adviceForUnknown } from '../../lib/suggest.ts';
import { expShape } from '../shapes.ts';
import { element, member, valueText } from '../values.ts';
import { parseAt, Reader, SchemaSyntaxError } from './reader.ts';
import type { Evaluate, EvaluateText, Frame, Scope } from './scope.ts';

/** A compiled expression (docs/reference/mapping-language.md "Expressions"). */
export interface Expression {
  /** The text if it has no holes, otherwise null. */
  readonly constant: string | null;
  /** A hole that is the whole text keeps the type of its value; anything else is a string. */
  readonly value: Evaluate;
  /** Null if the value is null; a null within text is empty. */
  readonly text: EvaluateText;
}

type Part = string | Evaluate;

/**
 * Compiles text with `{…}` holes. `{{` and `}}` write braces.
 * @throws SchemaSyntaxError
 */
export function compileExpression(text: string, scope: Scope): Expression {
  rejectLongText(text);
  const parts = parseParts(new Reader(text), scope);
  const [first, ...rest] = parts;
  if (first === undefined) return constantExpression('');
  if (rest.length > 0) return templateExpression(parts);
  return typeof first === 'string' ? constantExpression(first) : holeExpression(first);
}

/** @throws SchemaSyntaxError for a text longer than any written by hand. */
export function rejectLongText(text: string): void {
  if (text.length <= languageTextCharactersMax) return;
  const message = `the text is longer than ${languageTextCharactersMax} characters`;
  throw new SchemaSyntaxError(message, languageTextCharactersMax, 'Shorten it.');
}

function parseParts(reader: Reader, scope: Scope): Part[] {
  const parts: Part[] = [];
  let literal = '';
  while (!reader.atEnd) {
    if (reader.take('{{')) literal += '{';
    else if (reader.take('}}')) literal += '}';
    else if (reader.next === '}') throw unmatchedBrace(reader);
    else if (reader.next !== '{') literal += takeLiteral(reader);
    else {
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parseHole(reader, scope));
    }
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function takeLiteral(reader: Reader): string {
  const start = reader.position;
  while (!reader.atEnd && reader.next !== '{' && reader.next !== '}') reader.position += 1;
  return reader.text.slice(start, reader.position);
}

function unmatchedBrace(reader: Reader): SchemaSyntaxError {
  return reader.syntaxError('unmatched closing brace', 'Write `}}` for a literal brace.');
}

function constantExpression(text: string): Expression {
  const evaluate = () => text;
  return { constant: text, value: evaluate, text: evaluate };
}

function holeExpression(hole: Evaluate): Expression {
  return { constant: null, value: hole, text: (frame) => frame.build.text(hole(frame)) };
}

function templateExpression(parts: readonly Part[]): Expression {
  const text = (frame: Frame) => joinParts(parts, frame);
  return { constant: null, value: text, text };
}

/** Concatenates parts, with null as an empty string. Null if the result exceeds `textCharactersMax`. */
export function joinParts(parts: readonly Part[], frame: Frame): string | null {
  let text = '';
  for (const part of parts) {
    text += typeof part === 'string' ? part : (frame.build.text(part(frame)) ?? '');
    // Checked at each step, because two hundred holes with a text of 5 MB would exceed the maximum length of a string.
    if (text.length > textCharactersMax) {
      frame.build.limitReached(
        '$',
        `an expression returns more than ${textCharactersMax} characters; its value is null`,
      );
      return null;
    }
  }
  return text;
}

/**
 * Parses one hole, with the reader at its `{`:
 *
 *     hole    = "{" value "}"
 *     value   = operand { "??" operand }
 *     operand = ( literal | name | "(" value ")" ) { "." name | "?." name | [ "?." ] "[" ( index | text ) "]" }
 *
 * @throws SchemaSyntaxError
 */
export function parseHole(reader: Reader, scope: Scope): Evaluate {
  reader.expect('{');
  const evaluate = parseValue(reader, scope);
  reader.expect('}', 'the closing brace `}` of the hole, a `.`, a `[` or a `??`');
  return evaluate;
}

function parseValue(reader: Reader, scope: Scope): Evaluate {
  reader.skipSpace();
  const first = parseOperand(reader, scope);
  reader.skipSpace();
  const operands = [first];
  while (reader.take('??')) {
    reader.skipSpace();
    operands.push(parseOperand(reader, scope));
    reader.skipSpace();
  }
  return operands.length === 1 ? first : firstPresent(operands);
}

function firstPresent(operands: readonly Evaluate[]): Evaluate {
  return (frame) => {
    for (const operand of operands) {
      const value = operand(frame);
      if (value !== null) return value;
    }
    return null;
  };
}

function parseOperand(reader: Reader, scope: Scope): Evaluate {
  const start = reader.position;
  let evaluate = parsePrimary(reader, scope);
  for (;;) {
    const step = parseStep(reader, evaluate);
    if (step === null) break;
    evaluate = step;
  }
  const path = reader.text.slice(start, reader.position);
  return isPath(path) ? scope.observed(path, evaluate) : evaluate;
}

function parsePrimary(reader: Reader, scope: Scope): Evaluate {
  if (reader.take('(')) {
    const evaluate = reader.nested(() => parseValue(reader, scope));
    reader.expect(')', 'the closing parenthesis `)`');
    return evaluate;
  }
  if (reader.next === "'" || reader.next === '"') return constant(parseQuoted(reader));
  const number = reader.takeNumber();
  if (number !== null) return constant(Number(number));
  return parseName(reader, scope);
}

function parseName(reader: Reader, scope: Scope): Evaluate {
  const start = reader.position;
  const name = reader.takeIdentifier();
  if (name === null) throw reader.expected('a name, a literal or `(`');
  const literal = literals.get(name);
  if (literal !== undefined) return constant(literal);
  const evaluate = scope.resolve(name);
  if (evaluate !== null) return evaluate;
  const advice = `A property of the entity is written \`p.${name}\`. ${adviceForUnknown(name, scope.names)}`;
  throw reader.syntaxError(`unknown name \`${name}\``, advice, start);
}

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
]);

/** Whether an operand is a path: neither a literal nor in parentheses. */
function isPath(operand: string): boolean {
  return !/^['"(0-9-]/.test(operand) && !literals.has(operand);
}

function constant(value: string | number | boolean | null): Evaluate {
  return () => value;
}

/** Parses one `.name`, `[0]` or `['name']` after `base`; null if there is none. */
function parseStep(reader: Reader, base: Evaluate): Evaluate | null {
  const chained = reader.take('?.');
  if (reader.take('[')) return parseSubscript(reader, base);
  if (!chained && !reader.take('.')) return null;
  const name = reader.takeIdentifier();
  if (name === null) throw reader.expected("a name (write `['like-this']` if it has other characters)");
  return (frame) => member(base(frame), name);
}

function parseSubscript(reader: Reader, base: Evaluate): Evaluate {
  reader.skipSpace();
  const step = parseSubscriptValue(reader, base);
  reader.skipSpace();
  reader.expect(']');
  return step;
}

function parseSubscriptValue(reader: Reader, base: Evaluate): Evaluate {
  if (reader.next === "'" || reader.next === '"') {
    const name = parseQuoted(reader);
    return (frame) => member(base(frame), name);
  }
  const start = reader.position;
  const index = reader.takeNumber();
  if (index === null || !/^[0-9]+$/.test(index)) {
    throw reader.expected('an index (0, 1, …) or a name in quotes', start);
  }
  const position = Number(index);
  return (frame) => element(base(frame), position);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** A string in single or double quotes, in which the same quote is doubled or follows a backslash. */
function parseQuoted(reader: Reader): string {
  const start = reader.position;
  const quote = reader.next;
  reader.position += 1;
  let text = '';
  while (!reader.atEnd) {
    if (reader.take(quote)) {
      if (!reader.take(quote)) return text;
      text += quote;
    } else if (reader.take('\\')) {
      text += parseEscape(reader);
    } else {
      text += reader.next;
      reader.position += 1;
    }
  }
  throw reader.syntaxError('unterminated string', `Close it with ${quote}.`, start);
}

function parseEscape(reader: Reader): string {
  const hex = /^u([0-9a-fA-F]{4})/.exec(reader.text.slice(reader.position, reader.position + 5))?.[1];
  if (hex !== undefined) {
    reader.position += 5;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }
  const letter = reader.next;
  reader.position += 1;
  return escapes.get(letter) ?? letter;
}

const nullExpression: Expression = { constant: null, value: () => null, text: () => null };

/**
 * Compiles an expression: a string with holes, `{"$exp": string}`, or a literal. Reports errors, and then returns a null
 * expression.
 */
export function compileField(at: Cursor, scope: Scope): Expression {
  const { json } = at;
  if (typeof json === 'string')
    return parseAt(at, () => compileExpression(json, scope.at(at))) ?? nullExpression;
  if (json === null || typeof json === 'number' || typeof json === 'boolean') return literal(json);
  if (isJsonObject(json)) return compileExp(at, scope);
  at.expected('a string, an expression or a literal', 'Write a string such as `{p.title}`.');
  return nullExpression;
}

/** As `compileField`, for a required key. */
export function compileRequiredField(at: Cursor, scope: Scope): Expression {
  if (!at.isAbsent) return compileField(at, scope);
  at.issue('this key is missing', 'Add it: a string such as `{p.title}`.');
  return nullExpression;
}

function compileExp(at: Cursor, scope: Scope): Expression {
  at.object(expShape);
  const text = at.member('$exp').text('Write an expression: {"$exp": "{p.title}"}.');
  return text === null ? nullExpression : compileField(at.member('$exp'), scope);
}

function literal(json: Json): Expression {
  const text = valueText(json);
  return { constant: text, value: () => json, text: () => text };
}
