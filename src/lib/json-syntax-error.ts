/** Finds the first syntax error in JSON (RFC 8259), for texts that `JSON.parse` rejects. */
import { isUtf8 } from 'node:buffer';

/** Not fatal, and skips a byte order mark. */
const anyBytes = new TextDecoder('utf-8');

export interface JsonSyntaxError {
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
  readonly expected: string;
}

/**
 * The first syntax error; null for valid JSON, or if the error is after `unitsMax` UTF-16 units. Reading takes ten times as
 * long as `JSON.parse`.
 */
export function findJsonError(text: string, unitsMax = Number.POSITIVE_INFINITY): JsonSyntaxError | null {
  const found = new Reader(text, unitsMax).firstError();
  return found && { ...positionIn(text, found.at), expected: found.expected };
}

/** The first error in bytes that should be JSON in UTF-8; null in the same cases as `findJsonError`. */
export function findJsonErrorInBytes(bytes: Uint8Array, unitsMax?: number): JsonSyntaxError | null {
  const text = anyBytes.decode(bytes);
  return isUtf8(bytes)
    ? findJsonError(text, unitsMax)
    : { ...positionIn(text, text.indexOf('\ufffd')), expected: 'UTF-8' };
}

/** Line and column of an offset in a text. */
export function positionIn(text: string, at: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  let column = 1;
  for (let unit = start; unit < at; column += 1) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  return { line, column };
}

/** Tokens that may come next. */
type State = 'value' | 'firstItem' | 'firstName' | 'name' | 'colon' | 'next';

interface Found {
  readonly at: number;
  readonly expected: string;
}

const nameText = 'a name in double quotes';
const literals = ['true', 'false', 'null'];

class Reader {
  #at = 0;
  #state: State = 'value';
  /** The expected closing brackets. */
  readonly #open: string[] = [];

  constructor(
    private readonly text: string,
    private readonly unitsMax: number,
  ) {}

  firstError(): Found | null {
    for (;;) {
      while (' \t\n\r'.includes(this.text.charAt(this.#at) || '-')) this.#at += 1;
      if (this.#at > this.unitsMax) return null;
      const isDone = this.#state === 'next' && this.#open.length === 0;
      if (this.#at >= this.text.length && isDone) return null;
      const found = this.#step(this.text.charAt(this.#at));
      if (found !== null) return found;
    }
  }

  #step(character: string): Found | null {
    switch (this.#state) {
      case 'value':
        return this.#value(character, 'a value');
      case 'firstItem':
        return character === ']' ? this.#close() : this.#value(character, 'a value or `]`');
      case 'firstName':
        if (character === '}') return this.#close();
        return character === '"' ? this.#string('colon') : this.#expected(`${nameText} or \`}\``);
      case 'name':
        return character === '"' ? this.#string('colon') : this.#expected(nameText);
      case 'colon':
        return character === ':' ? this.#take('value') : this.#expected('`:`');
      case 'next':
        return this.#next(character);
    }
  }

  #next(character: string): Found | null {
    const closing = this.#open.at(-1);
    if (closing === undefined) return this.#expected('the end');
    if (character === closing) return this.#close();
    if (character !== ',') return this.#expected(`\`,\` or \`${closing}\``);
    return this.#take(closing === '}' ? 'name' : 'value');
  }

  #value(character: string, expected: string): Found | null {
    if (character === '{' || character === '[') {
      this.#open.push(character === '{' ? '}' : ']');
      return this.#take(character === '{' ? 'firstName' : 'firstItem');
    }
    if (character === '"') return this.#string('next');
    if (character === '-' || isDigit(character)) return this.#number();
    const literal = literals.find((one) => this.text.startsWith(one, this.#at));
    if (literal === undefined) return this.#expected(expected);
    this.#at += literal.length;
    this.#state = 'next';
    return null;
  }

  #string(then: State): Found | null {
    for (this.#at += 1; this.#at < this.text.length; this.#at += 1) {
      const character = this.text.charAt(this.#at);
      if (character === '"') return this.#take(then);
      if (character < ' ') return this.#expected('an escape such as `\\n` in place of a control character');
      if (character !== '\\') continue;
      this.#at += 1;
      const isUnicode = /^u[0-9a-fA-F]{4}/.test(this.text.slice(this.#at, this.#at + 5));
      if (isUnicode) this.#at += 4;
      else if (!'"\\/bfnrt'.includes(this.text.charAt(this.#at) || '-')) {
        return this.#expected('one of `" \\ / b f n r t` or `u` and four hex digits after `\\`');
      }
    }
    return this.#expected('`"` at the end of the string');
  }

  #number(): Found | null {
    if (this.text.charAt(this.#at) === '-') this.#at += 1;
    if (this.text.charAt(this.#at) === '0') this.#at += 1;
    else if (!this.#digits()) return this.#expected('a digit');
    if (this.text.charAt(this.#at) === '.') {
      this.#at += 1;
      if (!this.#digits()) return this.#expected('a digit');
    }
    if ('eE'.includes(this.text.charAt(this.#at) || '-')) {
      this.#at += 1;
      if ('+-'.includes(this.text.charAt(this.#at) || 'e')) this.#at += 1;
      if (!this.#digits()) return this.#expected('a digit');
    }
    this.#state = 'next';
    return null;
  }

  /** @returns false if there are none */
  #digits(): boolean {
    const start = this.#at;
    while (isDigit(this.text.charAt(this.#at))) this.#at += 1;
    return this.#at > start;
  }

  #close(): null {
    this.#open.pop();
    return this.#take('next');
  }

  #take(state: State): null {
    this.#at += 1;
    this.#state = state;
    return null;
  }

  #expected(expected: string): Found {
    return { at: this.#at, expected };
  }
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character.length === 1;
}
