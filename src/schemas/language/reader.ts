import type { Cursor } from '../../contract/config-cursor.ts';
import { jsonNumberSyntax } from '../../lib/json-number.ts';
import { excerpt } from '../../lib/quote.ts';

/** Nesting of parentheses, lambdas and filters in one text; far above what people write, far below the stack. */
const nestingMax = 64;

const identifierStart = /[A-Za-z_$\u0080-\uffff]/;
const identifierRest = /[A-Za-z0-9_$\u0080-\uffff]*/y;
const numberPattern = new RegExp(jsonNumberSyntax, 'y');
/** Of what is where something else is expected. */
const shownCharactersMax = 12;
const whiteSpace = /[ \t\r\n]*/y;

/** A place in a text that is being parsed, with the steps that all parsers of the mapping language share. */
export class Reader {
  readonly text: string;
  position = 0;
  #nesting = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The character here; empty at the end. */
  get next(): string {
    return this.text.charAt(this.position);
  }

  get atEnd(): boolean {
    return this.position >= this.text.length;
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.position);
  }

  /** Steps over `token` if it is here. */
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

  /** The identifier here, or null. */
  takeIdentifier(): string | null {
    if (!identifierStart.test(this.next)) return null;
    return this.#match(identifierRest);
  }

  /** The identifier here without stepping over it, or null. */
  peekIdentifier(): string | null {
    const start = this.position;
    const name = this.takeIdentifier();
    this.position = start;
    return name;
  }

  /** Steps over `word` if it is here as a whole identifier. */
  takeWord(word: string): boolean {
    if (this.peekIdentifier() !== word) return false;
    this.position += word.length;
    return true;
  }

  /** The text of the JSON number here, or null. */
  takeNumber(): string | null {
    const text = this.#match(numberPattern);
    return text === '' ? null : text;
  }

  /** Runs one level of nesting, which is bounded so that no text overflows the stack. */
  nested<T>(parse: () => T): T {
    if (this.#nesting >= nestingMax) {
      throw new SyntaxMistake(`nested deeper than ${nestingMax} levels`, this.position, 'Write it flatter.');
    }
    this.#nesting += 1;
    const result = parse();
    this.#nesting -= 1;
    return result;
  }

  /** The mistake that something else than `what` is here. */
  expected(what: string, position = this.position): SyntaxMistake {
    const found =
      position >= this.text.length
        ? 'the text ends'
        : `\`${excerpt(this.text.slice(position), shownCharactersMax)}\` stands`;
    return this.mistake(`${what} expected, but ${found} there`, `Write ${what} there.`, position);
  }

  /** A mistake at a place, its message naming the place as people count: from 1. */
  mistake(message: string, advice: string, position = this.position): SyntaxMistake {
    return new SyntaxMistake(`at character ${position + 1}: ${message}`, position, advice);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.position;
    const text = pattern.exec(this.text)?.[0] ?? '';
    this.position += text.length;
    return text;
  }
}

/** A mistake in a text of the mapping language (expression, path, filter): the operator's, found when it is compiled. */
export class SyntaxMistake extends Error {
  override readonly name = 'SyntaxMistake';

  /** @param position zero-based character at which the text stopped making sense */
  constructor(
    message: string,
    readonly position: number,
    readonly advice: string,
  ) {
    super(message);
  }
}

/** Runs a parser of the mapping language over the text at a cursor. Its mistake becomes an issue there, and the result null. */
export function parseAt<T>(at: Cursor, parse: () => T): T | null {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    at.issue(error.message, error.advice);
    return null;
  }
}
