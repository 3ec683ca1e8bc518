import { adviceForUnknown } from '../../lib/suggest.ts';
import { element, member } from './member.ts';
import type { Reader } from './reader.ts';
import type { Evaluate, Scope } from './scope.ts';

/**
 * Parses one hole, the reader standing at its `{`:
 *
 *     hole    = "{" value "}"
 *     value   = operand { "??" operand }
 *     operand = ( literal | name | "(" value ")" ) { "." name | "?." name | [ "?." ] "[" ( index | text ) "]" }
 *
 * @throws SyntaxMistake
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
  throw reader.mistake(`nothing is called \`${name}\` here`, advice, start);
}

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ['null', null],
  ['true', true],
  ['false', false],
]);

/** Whether an operand reads something that is given: it is no literal and stands in no parentheses. */
function isPath(operand: string): boolean {
  return !/^['"(0-9-]/.test(operand) && !literals.has(operand);
}

function constant(value: string | number | boolean | null): Evaluate {
  return () => value;
}

/** One `.name`, `[0]` or `['name']` behind `base`; null when none stands here. */
function parseStep(reader: Reader, base: Evaluate): Evaluate | null {
  const chained = reader.take('?.');
  if (reader.take('[')) return parseSubscript(reader, base);
  if (!chained && !reader.take('.')) return null;
  const name = reader.takeIdentifier();
  if (name === null) throw reader.expected("a name (one with other signs is written `['like-this']`)");
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

/** A text in single or double quotes; its own quote is doubled or stands behind a backslash. */
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
  throw reader.mistake('the text in quotes does not end', `Close it with ${quote}.`, start);
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
