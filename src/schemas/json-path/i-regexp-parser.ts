import { Reader } from '../language/reader.ts';

/** Whether a position of a pattern accepts a code point. */
export type TakesCodePoint = (codePoint: number) => boolean;

export type PatternNode =
  /** `steps` is the cost of one attempt. */
  | { readonly kind: 'take'; readonly takes: TakesCodePoint; readonly steps: number }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number };

/**
 * Parses an I-Regexp (RFC 9485), with common extensions: `^` and `$` as anchors, and `\d \w \s`.
 * @throws SchemaSyntaxError
 */
export function parsePattern(text: string): PatternNode {
  const reader = new Reader(text);
  const node = parseChoice(reader);
  if (!reader.atEnd) throw reader.expected('the end of the pattern');
  return node;
}

function parseChoice(reader: Reader): PatternNode {
  const nodes = [parseSequence(reader)];
  while (reader.take('|')) nodes.push(parseSequence(reader));
  return { kind: 'choice', nodes };
}

function parseSequence(reader: Reader): PatternNode {
  const nodes: PatternNode[] = [];
  while (!reader.atEnd && reader.next !== '|' && reader.next !== ')') {
    nodes.push(parseQuantifier(reader, parseAtom(reader)));
  }
  return { kind: 'sequence', nodes };
}

function parseQuantifier(reader: Reader, node: PatternNode): PatternNode {
  if (reader.take('*')) return { kind: 'repeat', node, min: 0, max: Number.POSITIVE_INFINITY };
  if (reader.take('+')) return { kind: 'repeat', node, min: 1, max: Number.POSITIVE_INFINITY };
  if (reader.take('?')) return { kind: 'repeat', node, min: 0, max: 1 };
  if (!reader.take('{')) return node;
  const min = takeCount(reader);
  const max = reader.take(',') ? (reader.next === '}' ? Number.POSITIVE_INFINITY : takeCount(reader)) : min;
  reader.expect('}');
  if (max < min) throw reader.expected('an ascending range');
  return { kind: 'repeat', node, min, max };
}

function takeCount(reader: Reader): number {
  const start = reader.position;
  while (/[0-9]/.test(reader.next)) reader.position += 1;
  if (start === reader.position) throw reader.expected('a count');
  return Number(reader.text.slice(start, reader.position));
}

function parseAtom(reader: Reader): PatternNode {
  if (reader.take('(')) {
    const node = reader.nested(() => parseChoice(reader));
    reader.expect(')');
    return node;
  }
  if (reader.take('^')) return { kind: 'start' };
  if (reader.take('$')) return { kind: 'end' };
  if (reader.take('.')) return take((codePoint) => codePoint !== 10 && codePoint !== 13);
  if (reader.take('[')) return parseClass(reader);
  if (reader.take('\\')) return take(parseEscape(reader));
  if ('*+?{}]'.includes(reader.next)) throw reader.expected('a character');
  return take(only(takeCodePoint(reader)));
}

function take(takes: TakesCodePoint, steps = 1): PatternNode {
  return { kind: 'take', takes, steps };
}

function only(wanted: number): TakesCodePoint {
  return (codePoint) => codePoint === wanted;
}

function takeCodePoint(reader: Reader): number {
  const codePoint = reader.text.codePointAt(reader.position);
  if (codePoint === undefined) throw reader.expected('a character');
  reader.position += codePoint > 0xffff ? 2 : 1;
  return codePoint;
}

/** Parses a class after its `[`. */
function parseClass(reader: Reader): PatternNode {
  const negated = reader.take('^');
  const members: TakesCodePoint[] = [];
  while (!reader.take(']')) {
    if (reader.atEnd) throw reader.expected('the closing `]`');
    members.push(parseClassMember(reader));
  }
  if (members.length === 0) throw reader.expected('a character in `[]`');
  return take((codePoint) => members.some((takes) => takes(codePoint)) !== negated, members.length);
}

function parseClassMember(reader: Reader): TakesCodePoint {
  const first = parseClassCharacter(reader);
  if (typeof first !== 'number') return first;
  if (reader.next !== '-' || reader.text.charAt(reader.position + 1) === ']') return only(first);
  reader.position += 1;
  const last = parseClassCharacter(reader);
  if (typeof last !== 'number' || last < first) throw reader.expected('an ascending range');
  return (codePoint) => codePoint >= first && codePoint <= last;
}

function parseClassCharacter(reader: Reader): number | TakesCodePoint {
  if (!reader.take('\\')) return takeCodePoint(reader);
  return takeSingleEscape(reader) ?? parseEscape(reader);
}

/** Parses an escape after its backslash. */
function parseEscape(reader: Reader): TakesCodePoint {
  const single = takeSingleEscape(reader);
  if (single !== null) return only(single);
  const named = /^[dDwWsS]/.exec(reader.next)?.[0];
  if (named !== undefined) {
    reader.position += 1;
    return byExpression(`\\${named}`);
  }
  const category = /^[pP]\{(?:L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|Z[lps]?|S[ckmo]?|C[cfno]?)\}/.exec(
    reader.text.slice(reader.position, reader.position + 6),
  )?.[0];
  if (category === undefined) throw reader.expected('a character that can be escaped');
  reader.position += category.length;
  return byExpression(`\\${category}`);
}

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ['n', 10],
  ['r', 13],
  ['t', 9],
]);

function takeSingleEscape(reader: Reader): number | null {
  const letter = reader.next;
  const control = controlEscapes.get(letter);
  if (control === undefined && !/^[$()*+\-./?[\\\]^{|}]$/.test(letter)) return null;
  reader.position += 1;
  return control ?? letter.charCodeAt(0);
}

/** A class from the Unicode tables of the engine. The expression tests a single character, so its cost is bounded. */
function byExpression(source: string): TakesCodePoint {
  const expression = new RegExp(`^${source}$`, 'u');
  return (codePoint) => expression.test(String.fromCodePoint(codePoint));
}
