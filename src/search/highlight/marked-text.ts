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

/**
 * A text with its matching words between marks. Where a mark is markup, the text is escaped.
 * @param matches in order, not overlapping
 */
export function markedText(
  text: string,
  matches: readonly MatchPlace[],
  { before, after, length }: CheckedHighlight,
): string {
  const isMarkup = before.includes('<') || after.includes('<');
  const written = (from: number, to: number) => {
    const part = text.slice(from, to);
    return isMarkup ? part.replace(/[&<>"']/g, (character) => escapes[character] ?? character) : part;
  };
  const { from, to } = length === null ? { from: 0, to: text.length } : passageOf(text, matches, length);
  const parts: string[] = [];
  let at = from;
  for (const { start, end } of matches) {
    if (start < from || end > to) continue;
    parts.push(written(at, start), before, written(start, end), after);
    at = end;
  }
  parts.push(written(at, to));
  return `${from > 0 ? ellipsis : ''}${parts.join('')}${to < text.length ? ellipsis : ''}`;
}
