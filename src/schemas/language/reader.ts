import type { Cursor } from '../../contract/config-cursor.ts';
import { jsonNumberSyntax } from '../../lib/json-number.ts';
import { excerpt } from '../../lib/message-text.ts';

/**
 * Maximum nesting of parentheses, lambdas and filters: far more than is written by hand, and far less than the stack allows.
 */
const nestingMax = 64;

const identifierStart = /[A-Za-z_$\u0080-\uffff]/;
const identifierRest = /[A-Za-z0-9_$\u0080-\uffff]*/y;
const numberPattern = new RegExp(jsonNumberSyntax, 'y');
/** Length of the excerpt in messages about unexpected text. */
const shownCharactersMax = 12;
const whiteSpace = /[ \t\r\n]*/y;

/** A position in a text that is being parsed, with the tokens that all parsers of the mapping language share. */
export class Reader {
  readonly text: string;
  position = 0;
  #nesting = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The character at the position; '' at the end. */
  get next(): string {
    return this.text.charAt(this.position);
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.position);
  }

  /** Takes `token` if it is at the position. */
  take(token: string): boolean {
    if (!this.startsWith(token)) return false;
    this.position += token.length;
    return true;
  }

  expect(token: string, what = `\`${token}\``): void {
    if (!this.take(token)) throw this.expected(what);
  }

  skipSpace(): void {
    this.#match(whiteSpace);
  }

  /** Takes an identifier, or returns null. */
  takeIdentifier(): string | null {
    if (!identifierStart.test(this.next)) return null;
    return this.#match(identifierRest);
  }

  /** The identifier at the position, without taking it, or null. */
  peekIdentifier(): string | null {
    const start = this.position;
    const name = this.takeIdentifier();
    this.position = start;
    return name;
  }

  /** Takes `word` if it is the whole identifier at the position. */
  takeWord(word: string): boolean {
    if (this.peekIdentifier() !== word) return false;
    this.position += word.length;
    return true;
  }

  /** Takes a JSON number and returns its text, or null. */
  takeNumber(): string | null {
    const text = this.#match(numberPattern);
    return text === '' ? null : text;
  }

  /** Runs one level of nesting, which is limited so that no text can overflow the stack. */
  nested<T>(parse: () => T): T {
    if (this.#nesting >= nestingMax) {
      throw new SchemaSyntaxError(
        `nested deeper than ${nestingMax} levels`,
        this.position,
        'Reduce the nesting.',
      );
    }
    this.#nesting += 1;
    const result = parse();
    this.#nesting -= 1;
    return result;
  }

  /** Error for unexpected text where `what` is expected. */
  expected(what: string, position = this.position): SchemaSyntaxError {
    const found =
      position >= this.text.length
        ? 'the end'
        : `\`${excerpt(this.text.slice(position), shownCharactersMax)}\``;
    return this.syntaxError(`expected ${what}, found ${found}`, `Write ${what} there.`, position);
  }

  /** An error at a position, which the message gives from 1. */
  syntaxError(message: string, advice: string, position = this.position): SchemaSyntaxError {
    return new SchemaSyntaxError(`at character ${position + 1}: ${message}`, position, advice);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const text = pattern.exec(this.text)?.[0] ?? '';
    this.position += text.length;
    return text;
  }
}

/** A syntax error in an expression, path or filter, found at compile time. */
export class SchemaSyntaxError extends Error {
  override readonly name = 'SchemaSyntaxError';

  /** @param position of the error in the text, from 0 */
  constructor(
    message: string,
    readonly position: number,
    readonly advice: string,
  ) {
    super(message);
  }
}

/** Runs a parser over the text at a cursor. A syntax error is reported there, and the result is null. */
export function parseAt<T>(at: Cursor, parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SchemaSyntaxError)) throw error;
    at.issue(error.message, error.advice);
    return null;
  }
}
