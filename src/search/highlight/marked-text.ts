/** Marks the matching words in a text, or in the passage that has the best of them. */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedHighlight } from '../checked-query.ts';
import type { WordMatch } from './word-matcher.ts';

/** A matching word of a text, with start and end in UTF-16 units. */
export interface MatchPlace extends WordMatch {
  readonly start: number;
  readonly end: number;
}

const ellipsis = '…';
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Long text is escaped in blocks of this size, with a check of the clock after each. */
const blockUnits = 4096;
/** The cost of visiting a match, of writing a character, and of marking a match, in units of the work budget. */
const unitsPerVisit = 5;
const unitsPerCharacter = 4;
const unitsPerMatch = 100;
/** Parts are joined in groups of this size, because joining millions in one call takes too long. */
const partsAtOnce = 4096;

/**
 * Wraps the matches in a text with marks. Escapes the text if a mark is markup. In steps, because a long text can have a
 * million matches.
 * @param matches in order, not overlapping
 */
export function* markedText(
  text: string,
  matches: readonly MatchPlace[],
  { before, after, length }: CheckedHighlight,
): Steps<string> {
  const isMarkup = before.includes('<') || after.includes('<');
  const { from, to } =
    length === null ? { from: 0, to: text.length } : yield* passageOf(text, matches, length);
  const portions: string[] = [];
  let parts: string[] = [];
  let at = from;
  for (const { start, end } of matches) {
    workBudget.units += unitsPerVisit;
    if (workBudget.isOver()) yield;
    if (start < from || end > to) continue;
    yield* write(text, at, start, isMarkup, parts);
    parts.push(before);
    yield* write(text, start, end, isMarkup, parts);
    parts.push(after);
    at = end;
    workBudget.units += unitsPerMatch;
    if (parts.length < partsAtOnce) continue;
    portions.push(parts.join(''));
    parts = [];
  }
  yield* write(text, at, to, isMarkup, parts);
  return `${from > 0 ? ellipsis : ''}${portions.join('')}${parts.join('')}${to < text.length ? ellipsis : ''}`;
}

/** Appends a range of the text to `parts`, block by block. */
function* write(text: string, from: number, to: number, isMarkup: boolean, parts: string[]): Steps<void> {
  for (let at = from; at < to; at += blockUnits) {
    const part = text.slice(at, Math.min(to, at + blockUnits));
    const written = isMarkup
      ? part.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
      : part;
    parts.push(written);
    workBudget.units += unitsPerCharacter * written.length;
    if (workBudget.isOver()) yield;
  }
}

/** The part of a text to show, in UTF-16 units. */
interface Passage {
  readonly from: number;
  readonly to: number;
}

/** Context is cut between words, if a word ends within this many code points. */
const snapMax = 20;
/** A passage in the middle of a text has an ellipsis at each end. */
const ellipses = 2;
const wordCharacter = /[\p{L}\p{M}\p{Nd}]/u;

/**
 * The passage of a text with the best matches: the one with the most distinct words of the search, then with the most and
 * closest matches, then the first. Matching words are never truncated.
 * @param matches in order, not overlapping
 * @param length code points of the passage with its ellipses. Exceeded if a single matching word is longer
 */
function* passageOf(text: string, matches: readonly MatchPlace[], length: number): Steps<Passage> {
  workBudget.units += text.length;
  const whole = { from: 0, to: text.length };
  if (text.length <= length) return whole;
  const points = new CodePoints(text);
  if (points.count <= length) return whole;
  const room = Math.max(1, length - ellipses);
  const best = yield* bestRun(matches, room, points);
  const start = best === null ? 0 : points.before(best.from);
  const end = best === null ? 0 : points.before(best.to);
  const spare = Math.max(0, room - (end - start));
  const before = Math.min(start, Math.max(spare >> 1, spare - (points.count - end)));
  const from = snapForward(text, points.unitAt(start - before), best?.from ?? 0);
  const to = snapBack(text, points.unitAt(Math.min(points.count, end + spare - before)), best?.to ?? 0);
  return withoutCutMatches({ from, to }, matches);
}

/** The offsets of the code points of a text. */
class CodePoints {
  readonly count: number;
  /** Offset of each code point in UTF-16 units, then the length of the text; null if all code points are single units. */
  readonly #units: Uint32Array | null;

  constructor(text: string) {
    const units = new Uint32Array(text.length + 1);
    let count = 0;
    for (let at = 0; at < text.length; at += 1) {
      units[count] = at;
      count += 1;
      if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    }
    units[count] = text.length;
    this.count = count;
    this.#units = count === text.length ? null : units.subarray(0, count + 1);
  }

  unitAt(point: number): number {
    return this.#units === null ? point : (this.#units[point] ?? 0);
  }

  /** Number of code points before an offset at which one begins. */
  before(unit: number): number {
    const units = this.#units;
    if (units === null) return unit;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((units[middle] ?? 0) < unit) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The cost of a match in `bestRun`, in units of the work budget. */
const unitsPerCandidate = 30;
/** More than the distance of any match, in quarters of an edit. */
const farQuarters = 64;

/** The best run of matches that fits; null if there are none. */
function* bestRun(matches: readonly MatchPlace[], room: number, points: CodePoints): Steps<Passage | null> {
  const counts = new Map<number, number>();
  let best: Passage | null = null;
  let bestWords = 0;
  let bestWeight = 0;
  let weight = 0;
  let left = 0;
  for (const match of matches) {
    workBudget.units += unitsPerCandidate;
    if (workBudget.isOver()) yield;
    for (const word of match.queryWords) counts.set(word, (counts.get(word) ?? 0) + 1);
    weight += weightOf(match);
    let first = matches[left] ?? match;
    while (first !== match && points.before(match.end) - points.before(first.start) > room) {
      for (const word of first.queryWords) takeOne(counts, word);
      weight -= weightOf(first);
      left += 1;
      first = matches[left] ?? match;
    }
    if (counts.size < bestWords || (counts.size === bestWords && weight <= bestWeight)) continue;
    best = { from: first.start, to: match.end };
    bestWords = counts.size;
    bestWeight = weight;
  }
  return best;
}

/** An integer, so that sums do not depend on the order. */
function weightOf({ edits }: MatchPlace): number {
  return farQuarters - 4 * edits;
}

function takeOne(counts: Map<number, number>, word: number): void {
  const left = (counts.get(word) ?? 0) - 1;
  if (left === 0) counts.delete(word);
  else counts.set(word, left);
}

/** The next offset up to `last` that is not within a word; the given offset if there is none nearby. */
function snapForward(text: string, place: number, last: number): number {
  let at = place;
  for (let points = 0; at < last && isWithinWord(text, at); points += 1) {
    if (points === snapMax) return place;
    at += unitsAt(text, at);
  }
  while (at > 0 && at < last && isSpace(text, at)) at += 1;
  return at;
}

/** The last offset from `first` on that is not within a word; the given offset if there is none nearby. */
function snapBack(text: string, place: number, first: number): number {
  let at = place;
  for (let points = 0; at > first && isWithinWord(text, at); points += 1) {
    if (points === snapMax) return place;
    at -= at > 1 && unitsAt(text, at - 2) === 2 ? 2 : 1;
  }
  while (at < text.length && at > first && isSpace(text, at - 1)) at -= 1;
  return at;
}

function isWithinWord(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = at > 1 && unitsAt(text, at - 2) === 2 ? text.slice(at - 2, at) : text.slice(at - 1, at);
  return wordCharacter.test(before) && wordCharacter.test(text.slice(at, at + unitsAt(text, at)));
}

function isSpace(text: string, at: number): boolean {
  return /\s/u.test(text.charAt(at));
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** Leaves out a matching word that the passage would truncate. */
function withoutCutMatches({ from, to }: Passage, matches: readonly MatchPlace[]): Passage {
  let [start, stop] = [from, to];
  for (const match of matches) {
    if (match.start < start && match.end > start) start = match.end;
    if (match.start < stop && match.end > stop) stop = match.start;
  }
  return { from: start, to: Math.max(start, stop) };
}
