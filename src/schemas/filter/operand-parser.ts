import type { Json } from '../../contract/json.ts';
import { joinParts, parseHole } from '../language/expression.ts';
import type { Reader } from '../language/reader.ts';
import type { Evaluate, Scope } from '../language/scope.ts';
import type { Operand, QueryValues } from './node.ts';

const codes = /(?:%[0-9A-Fa-f]{2})+/g;

/** Decodes the URI codes of a text. What begins no code, or stands for no character, stays as it is. */
export function decodeUriText(text: string): string {
  return text.includes('%') ? text.replace(codes, decodeRun) : text;
}

/** @param run codes alone */
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
 * Parses what a condition compares with: a text, which may have holes, a number, a literal word or a hole. Without a scope,
 * as in a filter that code has put together, there are no holes, and texts are URI-decoded once they are read.
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

  /** The operand that is here. @throws SyntaxMistake */
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
   * Steps over a quote in a filter of code after which no text can end: code often puts values in as they are, or encoded
   * by `encodeURIComponent`, which leaves quotes alone. An encoded value has no blanks, so it can never end the text.
   */
  #takeInnerQuote(): boolean {
    const { text, position } = this.#reader;
    if (text.charAt(position) !== "'") return false;
    endOfText.lastIndex = position + 1;
    const mayEndHere = endOfText.test(text);
    endOfText.lastIndex = position + 2;
    const mayEndAfterTwo = text.charAt(position + 1) === "'" && endOfText.test(text);
    // A doubled quote is one of the text, as everywhere.
    if (mayEndHere || (text.charAt(position + 1) === "'" && !mayEndAfterTwo)) return false;
    this.#reader.position += 1;
    return true;
  }

  /** A name in single quotes, without holes. @throws SyntaxMistake */
  takeName(): string {
    return this.#takeQuoted(false).join('');
  }

  #textOperand(parts: readonly (string | Evaluate)[]): Operand {
    const text = parts.every((part) => typeof part === 'string') ? parts.join('') : null;
    if (text !== null) return this.#values.addConstant(this.#scope === null ? decodeUriText(text) : text);
    return this.#values.add((frame) => joinParts(parts, frame));
  }

  /** A text in single quotes, a quote in it doubled; holes in it are filled with their text. */
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
    throw reader.mistake(
      'the text in quotes does not end',
      "Close it with '; a quote inside is doubled.",
      start,
    );
  }
}
