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

/** Escaping a long text looks at the clock after so many units. */
const blockUnits = 4096;
/** The cost of a look at a match, of writing a unit, and of the marks of a match, in units of the pace. */
const unitsPerLook = 5;
const unitsPerUnit = 4;
const unitsPerMatch = 100;
/** So many parts are joined at a time: joining millions of them at once takes long. */
const partsAtOnce = 4096;

/**
 * A text with its matching words between marks, in steps: a text of megabytes may have a million matches. Where a mark is
 * markup, the text is escaped.
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
    workBudget.units += unitsPerLook;
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

/** Adds a part of the text to `parts`, block by block. */
function* write(text: string, from: number, to: number, isMarkup: boolean, parts: string[]): Steps<void> {
  for (let at = from; at < to; at += blockUnits) {
    const part = text.slice(at, Math.min(to, at + blockUnits));
    const written = isMarkup
      ? part.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
      : part;
    parts.push(written);
    workBudget.units += unitsPerUnit * written.length;
    if (workBudget.isOver()) yield;
  }
}
