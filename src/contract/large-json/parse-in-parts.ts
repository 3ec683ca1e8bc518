/**
 * Parses large JSON text in parts, because millions of small values would block the event loop for half a second. Parts end
 * where values in an array or an object end. `JSON.parse` reads each part.
 */

import { assert } from '../../lib/assert.ts';
import { type Resumable, Suspended } from '../../lib/cooperative-yield.ts';
import { sorted } from '../../lib/slices/merge-sort.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../json.ts';

/** Longer JSON text is parsed in parts, and outputs built from it are serialized in parts. */
export const largeJsonCharacters = 128 * 1024;

/** A part takes a few milliseconds at most. A longer string inside is not split, and is fast to parse. */
const partCharacters = 32_768;

/** Names of the objects that consist of several parts, because listing them again would take long. */
const names = new WeakMap<object, readonly string[]>();

/** Like `Object.keys`. */
export function namesOf(object: JsonObject): readonly string[] {
  return names.get(object) ?? Object.keys(object);
}

const quote = 0x22;
const comma = 0x2c;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Like `JSON.parse`, in steps if the text is large. @param text as for `parseInParts` */
export function parsed(text: string): Resumable<Json> {
  return text.length > largeJsonCharacters ? new Suspended(parseInParts(text)) : (JSON.parse(text) as Json);
}

/**
 * Like `JSON.parse`; may pause at each `yield`.
 * @param text as written by `JSON.stringify` without spaces
 * @throws SyntaxError
 */
export function* parseInParts(text: string): Generator<undefined, Json, undefined> {
  return yield* new PartsParser(text).whole();
}

const indexDigitsMax = 10;
const indexMax = 2 ** 32 - 2;

/** Numeric names of an object come first, in numeric order, wherever they are in its text. */
function isIndex(name: string): boolean {
  const first = name.charCodeAt(0);
  if (!(first >= zero && first <= nine) || name.length > indexDigitsMax) return false;
  const number = Number(name);
  return Number.isInteger(number) && number <= indexMax && String(number) === name;
}

const byNumber = (a: string, b: string): number => Number(a) - Number(b);

class PartsParser {
  #at = 0;

  constructor(private readonly text: string) {}

  *whole(): Generator<undefined, Json, undefined> {
    if (this.text.length <= partCharacters) return JSON.parse(this.text) as Json;
    const value = yield* this.#value();
    if (this.#at < this.text.length) throw new SyntaxError('JSON text with more behind its end');
    return value;
  }

  /** Reads the list or object that begins here. */
  *#value(): Generator<undefined, Json, undefined> {
    const first = this.text.charCodeAt(this.#at);
    if (first === openBracket) return yield* this.#array();
    if (first === openBrace) return yield* this.#object();
    // A large string as the whole text. Inside a list it would be a part.
    const value = JSON.parse(this.text.slice(this.#at)) as Json;
    this.#at = this.text.length;
    return value;
  }

  *#array(): Generator<undefined, Json[], undefined> {
    const items: Json[] = [];
    this.#at += 1;
    while (!this.#ends(closeBracket)) {
      const part = this.#part();
      if (part === null) {
        items.push(yield* this.#value());
      } else {
        const some = JSON.parse(`[${part}]`) as Json[];
        for (const item of some) items.push(item);
      }
      yield;
    }
    return items;
  }

  *#object(): Generator<undefined, JsonObject, undefined> {
    const object: JsonObject = {};
    const indexes: string[] = [];
    const others: string[] = [];
    const note = (name: string) => (isIndex(name) ? indexes : others).push(name);
    let parts = 0;
    this.#at += 1;
    while (!this.#ends(closeBrace)) {
      const part = this.#part();
      if (part === null) {
        const name = this.#name();
        note(name);
        setOwn(object, name, yield* this.#value());
      } else {
        const some: unknown = JSON.parse(`{${part}}`);
        assert(isJsonObject(some), 'members make an object');
        for (const name of Object.keys(some)) {
          note(name);
          setOwn(object, name, some[name] ?? null);
        }
      }
      parts += 1;
      yield;
    }
    if (parts > 1) names.set(object, [...(yield* sorted(indexes, byNumber)), ...others]);
    return object;
  }

  /** Skips the end of a list and returns true, or skips a comma and returns false. */
  #ends(close: number): boolean {
    const next = this.text.charCodeAt(this.#at);
    if (next === close || next === comma) this.#at += 1;
    else if (Number.isNaN(next)) throw new SyntaxError('JSON text that has no end');
    return next === close;
  }

  /** Reads as many whole values or members as fit in a part; null if the first value is a list or object that does not fit. */
  #part(): string | null {
    const { text } = this;
    const from = this.#at;
    const limit = from + partCharacters;
    let end = from;
    let depth = 0;
    for (let at = from; at < text.length && (at < limit || (depth === 0 && end === from)); at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) at = endOfText(text, at);
      else if (code === openBracket || code === openBrace) depth += 1;
      else if (code === closeBracket || code === closeBrace) depth -= 1;
      if (depth < 0 || (depth === 0 && code === comma)) end = at;
      if (depth < 0) break;
    }
    if (end === from) return null;
    this.#at = end;
    return text.slice(from, end);
  }

  /** Reads the name of a member. */
  #name(): string {
    const end = endOfText(this.text, this.#at) + 1;
    const name = JSON.parse(this.text.slice(this.#at, end)) as string;
    if (this.text.charCodeAt(end) !== colon) throw new SyntaxError('JSON text with a name and no colon');
    this.#at = end + 1;
    return name;
  }
}

/** The index of the closing quote of the string that begins at `from`. @throws SyntaxError if there is none */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  throw new SyntaxError('JSON text with a text that has no end');
}
