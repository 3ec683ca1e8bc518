/**
 * A JSON reader (RFC 8259) for files that people write. It reports line, column and what to change, and rejects duplicate
 * member names, of which `JSON.parse` keeps the last. The library `jsonc-parser` reports where the syntax is wrong, but not
 * what is expected, in which value, nor duplicate names. Adding these would not make the code shorter.
 */
import { type Json, type JsonObject, setOwn } from '../contract/json.ts';
import { configDepthMax } from '../contract/limits.ts';
import { excerpt, quote } from '../lib/message-text.ts';
import { itemPath, memberPath } from '../lib/text-position.ts';

export interface TextIssue {
  /** JSON path of the value being read. */
  readonly path: string;
  /** Ends with `(line 3, column 14)`, both counted from 1, columns in UTF-16 units. */
  readonly message: string;
  readonly advice: string;
}

export type ParsedText =
  | { readonly ok: true; readonly json: Json }
  | { readonly ok: false; readonly issues: readonly TextIssue[] };

/** Maximum number of duplicates reported for a file; more probably have a single cause. */
const duplicatesReportedMax = 20;

/** Parses a complete text. Stops at the first syntax error; reports all duplicate names. */
export function parseJsonText(text: string): ParsedText {
  const reader = new JsonReader(text.startsWith('\uFEFF') ? text.slice(1) : text);
  try {
    const json = reader.whole();
    return reader.duplicates.length === 0 ? { ok: true, json } : { ok: false, issues: reader.duplicates };
  } catch (error) {
    if (!(error instanceof BrokenText)) throw error;
    return { ok: false, issues: [...reader.duplicates, error.issue] };
  }
}

class BrokenText extends Error {
  constructor(readonly issue: TextIssue) {
    super(issue.message);
  }
}

const whiteSpace = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /[^\s,:[\]{}"']+/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids raw control characters in strings.
const plainCharacters = /[^"\\\u0000-\u001f]*/y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const literals = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class JsonReader {
  readonly duplicates: TextIssue[] = [];
  readonly #text: string;
  #at = 0;
  #steps: (string | number)[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Json {
    this.#skip(whiteSpace);
    if (this.#at === this.#text.length) this.#fail('the file is empty', 'Write a JSON object: {}.');
    const json = this.#value();
    if (this.#at < this.#text.length) {
      this.#fail(`${this.#found()} after the end of the value`, 'Remove what follows the closing bracket.');
    }
    return json;
  }

  /** Reads a value and the white space after it. */
  #value(): Json {
    if (this.#steps.length > configDepthMax) {
      this.#fail(`nested deeper than ${configDepthMax} levels`, 'Flatten the file.');
    }
    const value = this.#bareValue();
    this.#skip(whiteSpace);
    return value;
  }

  #bareValue(): Json {
    const next = this.#text[this.#at];
    if (next === '{') return this.#object();
    if (next === '[') return this.#array();
    if (next === '"') return this.#string();
    if (next === "'") this.#fail('single quotes', 'JSON strings need double quotes.');
    if (next === '-' || (next !== undefined && next >= '0' && next <= '9')) return this.#number();
    const start = this.#at;
    const literal = literals.get(this.#skip(word));
    if (literal !== undefined) return literal;
    this.#at = start;
    return this.#fail(`${this.#found()} where a value should be`, this.#valueAdvice());
  }

  #object(): JsonObject {
    const object: JsonObject = {};
    this.#open();
    while (this.#text[this.#at] !== '}') {
      const nameAt = this.#at;
      if (this.#text[nameAt] !== '"') {
        this.#fail(`${this.#found()} where a member name should be`, this.#nameAdvice());
      }
      const name = this.#string();
      if (Object.hasOwn(object, name)) this.#reportDuplicate(name, nameAt);
      this.#skip(whiteSpace);
      if (this.#text[this.#at] !== ':') {
        this.#fail(`${this.#found()} where ":" should be`, `Write a colon after ${quote(name)}.`);
      }
      this.#open();
      this.#steps.push(name);
      setOwn(object, name, this.#value());
      this.#steps.pop();
      this.#separator('}');
    }
    this.#at++;
    return object;
  }

  #array(): Json[] {
    const items: Json[] = [];
    this.#open();
    while (this.#text[this.#at] !== ']') {
      this.#steps.push(items.length);
      items.push(this.#value());
      this.#steps.pop();
      this.#separator(']');
    }
    this.#at++;
    return items;
  }

  #separator(closing: '}' | ']'): void {
    const next = this.#text[this.#at];
    if (next === closing) return;
    if (next !== ',') {
      const advice = next === undefined ? 'A bracket is not closed.' : 'Is a comma missing before it?';
      this.#fail(`${this.#found()} where "," or "${closing}" should be`, advice);
    }
    const commaAt = this.#at;
    this.#open();
    if (this.#text[this.#at] !== closing) return;
    this.#at = commaAt;
    this.#fail(`"," before "${closing}"`, 'JSON has no trailing commas: remove it.');
  }

  #string(): string {
    const start = this.#at++;
    for (;;) {
      this.#skip(plainCharacters);
      const next = this.#text[this.#at];
      if (next === '"') break;
      if (next === '\\') {
        if (this.#skip(escapeSequence) === '') {
          this.#fail('an unknown escape in a string', 'Allowed: \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX.');
        }
        continue;
      }
      if (next === undefined || next === '\n' || next === '\r') {
        this.#at = start;
        this.#fail('a string that is not closed on its line', 'Close it with "; write line breaks as \\n.');
      }
      this.#fail('a raw control character in a string', 'Write it as \\uXXXX, a tab as \\t.');
    }
    this.#at++;
    const string = JSON.parse(this.#text.slice(start, this.#at)) as string;
    if (string.isWellFormed()) return string;
    this.#at = start;
    return this.#fail(
      'half of a character in a string',
      'Write the whole character: both halves of \\uD83D\\uDE00.',
    );
  }

  #number(): number {
    const start = this.#at;
    const digits = this.#skip(number);
    const rest = this.#skip(word);
    const value = Number(digits);
    this.#at = digits === '' || rest !== '' || !Number.isFinite(value) ? start : this.#at;
    if (this.#at !== start) return value;
    const written = excerpt(digits + rest);
    if (rest === '' && digits !== '') {
      return this.#fail(
        `the number ${written} is beyond a 64-bit float`,
        'Write a smaller number, or a string.',
      );
    }
    return this.#fail(
      `${written} is not a JSON number`,
      'Numbers look like 12, -0.5 or 1e3; otherwise write a string.',
    );
  }

  /** Skips a bracket, colon or comma and the white space after it. */
  #open(): void {
    this.#at++;
    this.#skip(whiteSpace);
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += text.length;
    return text;
  }

  #found(): string {
    const code = this.#text.codePointAt(this.#at);
    return code === undefined ? 'the file ends' : JSON.stringify(String.fromCodePoint(code));
  }

  #valueAdvice(): string {
    const next = this.#text[this.#at];
    if (next === undefined) return 'The value is missing.';
    if (next === '/') return 'JSON has no comments: remove it.';
    if (next === ']' || next === '}' || next === ',') return 'Is there an extra comma?';
    return 'Write a string in double quotes, a number, true, false, null, an array or an object.';
  }

  #nameAdvice(): string {
    const next = this.#text[this.#at];
    if (next === undefined) return 'A bracket is not closed.';
    if (next === '/') return 'JSON has no comments: remove it.';
    return 'Member names need double quotes.';
  }

  #reportDuplicate(name: string, at: number): void {
    if (this.duplicates.length >= duplicatesReportedMax) return;
    this.duplicates.push({
      path: memberPath(this.#path(), name),
      message: `${quote(name)} appears twice ${this.#position(at)}`,
      advice: 'Keep one of the two.',
    });
  }

  #fail(message: string, advice: string): never {
    const located = `broken JSON: ${message} ${this.#position(this.#at)}`;
    throw new BrokenText({ path: this.#path(), message: located, advice });
  }

  #path(): string {
    let path = '$';
    for (const step of this.#steps) {
      path = typeof step === 'number' ? itemPath(path, step) : memberPath(path, excerpt(step));
    }
    return path;
  }

  #position(at: number): string {
    const before = this.#text.slice(0, at);
    const line = before.split('\n').length;
    return `(line ${line}, column ${at - before.lastIndexOf('\n')})`;
  }
}
