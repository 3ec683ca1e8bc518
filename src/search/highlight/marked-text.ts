import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedHighlight } from '../checked-query.ts';
import { type MatchPlace, passageOf } from './passage.ts';

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
