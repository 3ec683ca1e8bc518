import type { Json } from '../../contract/json.ts';
import { joinParts, parseHole } from '../language/expression.ts';
import type { Reader } from '../language/reader.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import type { Operand, QueryValues } from './node.ts';

const codes = /(?:%[0-9A-Fa-f]{2})+/g;

/** Decodes the percent-encoded characters of a text. Invalid sequences are left unchanged. */
export function decodeUriText(text: string): string {
  return text.includes('%') ? text.replace(codes, decodeRun) : text;
}

/** @param run only percent-encoded bytes */
function decodeRun(run: string): string {
  let decoded = '';
  for (let at = 0; at < run.length; ) {
    const length = 3 * characterBytes(Number.parseInt(run.slice(at + 1, at + 3), 16));
    const text = decodeCharacter(run.slice(at, at + length));
    decoded += text ?? run.slice(at, at + 3);
    at += text === null ? 3 : length;
  }
  return decoded;
}

/** Bytes of the UTF-8 character that begins with `byte`. */
function characterBytes(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

function decodeCharacter(code: string): string | null {
  try {
    return decodeURIComponent(code);
  } catch {
    return null;
  }
}

/** Characters that may follow the closing quote of a string. */
const endOfText = /[ \t\r\n]*(?:$|[),]|(?:and|or)(?![A-Za-z0-9_$]))/y;

const literalWords: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Parses an operand: a string, which may have holes, a number, a literal word or a hole. Without a scope, for filters of code,
 * there are no holes, and strings are URI-decoded.
 */
export class OperandParser {
  readonly #reader: Reader;
  readonly #scope: Scope | null;
  readonly #values: QueryValues;

  constructor(reader: Reader, scope: Scope | null, values: QueryValues) {
    this.#reader = reader;
    this.#scope = scope;
    this.#values = values;
  }

  /** Parses the operand at the current position. @throws SchemaSyntaxError */
  take(): Operand {
    const reader = this.#reader;
    if (reader.next === '{' && this.#scope !== null) {
      return this.#values.add(parseHole(reader, this.#scope));
    }
    if (reader.next === "'") return this.#textOperand(this.#takeQuoted(true));
    const number = reader.takeNumber();
    if (number !== null) return this.#values.addConstant(Number(number));
    const start = reader.position;
    const literal = literalWords.get(reader.takeIdentifier() ?? '');
    if (literal !== undefined) return this.#values.addConstant(literal);
    const hole = this.#scope === null ? '' : ' or a hole `{…}`';
    throw reader.expected(`a value: \`'text'\`, a number, true, false, null${hole}`, start);
  }

  /**
   * In a filter of code, takes a quote that cannot end the string: code often inserts values unchanged, or encoded by
   * `encodeURIComponent`, which does not encode quotes. An encoded value has no spaces, so it can never end the string.
   */
  #takeInnerQuote(): boolean {
    const { text, position } = this.#reader;
    if (text.charAt(position) !== "'") return false;
    endOfText.lastIndex = position + 1;
    const mayEndHere = endOfText.test(text);
    endOfText.lastIndex = position + 2;
    const mayEndAfterTwo = text.charAt(position + 1) === "'" && endOfText.test(text);
    // As everywhere, a doubled quote is part of the string.
    if (mayEndHere || (text.charAt(position + 1) === "'" && !mayEndAfterTwo)) return false;
    this.#reader.position += 1;
    return true;
  }

  /** A name in single quotes, without holes. @throws SchemaSyntaxError */
  takeName(): string {
    return this.#takeQuoted(false).join('');
  }

  #textOperand(parts: readonly (string | Evaluate)[]): Operand {
    const text = parts.every((part) => typeof part === 'string') ? parts.join('') : null;
    if (text !== null) return this.#values.addConstant(this.#scope === null ? decodeUriText(text) : text);
    return this.#values.add((frame) => joinParts(parts, frame));
  }

  /** A string in single quotes, in which quotes are doubled and holes are replaced by their text. */
  #takeQuoted(mayHaveHoles: boolean): (string | Evaluate)[] {
    const reader = this.#reader;
    const scope = mayHaveHoles ? this.#scope : null;
    const start = reader.position;
    reader.expect("'");
    const parts: (string | Evaluate)[] = [];
    let literal = '';
    while (!reader.atEnd) {
      if (this.#scope === null && this.#takeInnerQuote()) literal += "'";
      else if (reader.take("''")) literal += "'";
      else if (reader.take("'")) return [...parts, literal];
      else if (this.#scope !== null && reader.take('{{')) literal += '{';
      else if (this.#scope !== null && reader.take('}}')) literal += '}';
      else if (scope !== null && reader.next === '{') {
        parts.push(literal, parseHole(reader, scope));
        literal = '';
      } else {
        literal += reader.next;
        reader.position += 1;
      }
    }
    throw reader.syntaxError('unterminated string', "Close it with '. Double a quote inside it.", start);
  }
}
