import { isHighSurrogate, isLowSurrogate } from '../../lib/code-points.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';

/** A part of a pattern between two `*`, with the Knuth–Morris–Pratt table if it may be needed. */
interface Part {
  readonly text: string;
  readonly borders: Uint32Array | null;
}

/**
 * For parts up to this length, `indexOf` compares each unit at most this often. For longer parts, the table is needed for
 * linear time.
 */
const plainPartUnitsMax = 32;
/** In texts of at least this length, units may be compared less often, to limit the time. */
const longTextUnitsMin = 65_536;
const plainPartOfLongTextUnitsMax = 8;
/** Shorter work is not worth counting, in units of the work budget. */
const shortTextUnits = 64;
/** The cost of searching a part, in units of the work budget, plus the length of the text. */
const unitsPerPart = 10;

/**
 * Compiles a pattern to a test of whole texts. `*` matches any characters; nothing else is special
 * (docs/reference/indexes-and-queries.md "Filters"). The time is always linear in the text and the pattern.
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const texts = pattern.split('*');
  if (texts.length === 1) return (text) => text === pattern;
  const head = texts[0] ?? '';
  const tail = texts[texts.length - 1] ?? '';
  const parts = texts.slice(1, -1).filter((text) => text !== '');
  const middle = parts.map(preparePart);
  const partUnits = unitsPerPart * (middle.length + 1);
  return (text) => {
    if (text.length > shortTextUnits || partUnits > shortTextUnits)
      workBudget.units += text.length + partUnits;
    if (text.length < head.length + tail.length) return false;
    const end = text.length - tail.length;
    if (!text.startsWith(head) || !text.endsWith(tail)) return false;
    if (splitsPair(text, head.length) || splitsPair(text, end)) return false;
    let from = head.length;
    for (const part of middle) {
      const at = findPart(text, part, from, end);
      if (at < 0) return false;
      from = at + part.text.length;
    }
    return true;
  };
}

function preparePart(text: string): Part {
  return { text, borders: text.length > plainPartOfLongTextUnitsMax ? bordersOf(text) : null };
}

/** First position of the part in text[from..end) that does not split a surrogate pair; -1 for none. */
function findPart(text: string, part: Part, from: number, end: number): number {
  const { borders } = part;
  const isHard = part.text.length > plainPartUnitsMax || text.length >= longTextUnitsMin;
  if (borders !== null && isHard) return findLong(text, part.text, borders, from, end);
  let at = text.indexOf(part.text, from);
  while (at >= 0 && at + part.text.length <= end) {
    if (!splitsPair(text, at) && !splitsPair(text, at + part.text.length)) return at;
    at = text.indexOf(part.text, at + 1);
  }
  return -1;
}

function findLong(text: string, part: string, borders: Uint32Array, from: number, end: number): number {
  let matched = 0;
  for (let at = from; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched < part.length) continue;
    const start = at + 1 - part.length;
    if (!splitsPair(text, start) && !splitsPair(text, at + 1)) return start;
    matched = borders[matched - 1] ?? 0;
  }
  return -1;
}

/** The length of the longest border of each prefix. A border is a proper prefix that is also a suffix. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let border = 0;
  for (let at = 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (border > 0 && text.charCodeAt(border) !== unit) border = borders[border - 1] ?? 0;
    if (text.charCodeAt(border) === unit) border += 1;
    borders[at] = border;
  }
  return borders;
}

function splitsPair(text: string, at: number): boolean {
  if (at === 0 || at >= text.length) return false;
  return isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1));
}
