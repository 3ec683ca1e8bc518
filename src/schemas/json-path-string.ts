import { parseHole } from './expression-parser.ts';
import type { Reader } from './reader.ts';
import type { Evaluate, Scope } from './scope.ts';

/** A quoted text of a path: without holes `constant` is its content. */
export interface PathString {
  readonly constant: string | null;
  readonly parts: readonly (string | Evaluate)[];
}

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['/', '/'],
  ['\\', '\\'],
]);

/**
 * A string literal of RFC 9535 (section 2.3.1), in which holes are filled with their text; `{{` and `}}` are braces.
 * @throws SyntaxMistake
 */
export function parsePathString(reader: Reader, scope: Scope): PathString {
  const start = reader.position;
  const quote = reader.next;
  reader.position += 1;
  const parts: (string | Evaluate)[] = [];
  let literal = '';
  while (!reader.take(quote)) {
    if (reader.atEnd)
      throw reader.mistake('the text in quotes does not end', `Close it with ${quote}.`, start);
    if (reader.next !== '{' || reader.startsWith('{{')) {
      literal += takeCharacter(reader, quote);
      continue;
    }
    parts.push(literal, parseHole(reader, scope));
    literal = '';
  }
  if (parts.length === 0) return { constant: literal, parts: [literal] };
  return { constant: null, parts: [...parts, literal] };
}

function takeCharacter(reader: Reader, quote: string): string {
  if (reader.take('{{')) return '{';
  if (reader.take('}}')) return '}';
  if (reader.take('\\')) return takeEscape(reader, quote);
  const character = reader.next;
  if (character < ' ') throw reader.expected('a printable character or an escape (`\\n`, `\\u000a`)');
  reader.position += 1;
  return character;
}

function takeEscape(reader: Reader, quote: string): string {
  if (reader.take(quote)) return quote;
  const simple = simpleEscapes.get(reader.next);
  if (simple !== undefined) {
    reader.position += 1;
    return simple;
  }
  const unit = takeUnit(reader);
  if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit);
  if (unit > 0xdbff || !reader.take('\\')) throw reader.expected('a pair of surrogates');
  const low = takeUnit(reader);
  if (low < 0xdc00 || low > 0xdfff) throw reader.expected('the low surrogate of the pair');
  return String.fromCharCode(unit, low);
}

function takeUnit(reader: Reader): number {
  const hex = /^u([0-9a-fA-F]{4})$/.exec(reader.text.slice(reader.position, reader.position + 5))?.[1];
  if (hex === undefined)
    throw reader.expected('an escape: one of `b f n r t / \\`, the quote, or `u` and four hex digits');
  reader.position += 5;
  return Number.parseInt(hex, 16);
}
