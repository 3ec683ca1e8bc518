import type { SearchOperators } from '../checked-query.ts';
import { cutterOf, wordSequence } from '../text/words.ts';

/** A phrase, or a word behind a hyphen that stands at the beginning or behind a blank. */
const operator = /(^|(?<=\s))-(?:"([^"]*)"|([^\s"]+))|"([^"]*)"/gu;

/**
 * Reads the quotes and hyphens of a value (docs/reference/indexes-and-queries.md "Phrases and exclusions"). A quote that is
 * not closed is a separator.
 * @param keep characters that count as letters
 * @returns the words to score, and what is asked of the items besides
 */
export function readOperators(value: string, keep = ''): { value: string; operators: SearchOperators } {
  const hasWords = (text: string) => wordSequence(text, cutterOf(keep)).length > 0;
  const phrases = new Set<string>();
  const excluded = new Set<string>();
  let [scored, free] = ['', ''];
  let from = 0;
  for (const match of value.matchAll(operator)) {
    const [all, , excludedPhrase, excludedWord, phrase] = match;
    const before = value.slice(from, match.index);
    scored += before;
    free += `${before} `;
    from = match.index + all.length;
    if (phrase !== undefined) {
      if (hasWords(phrase)) phrases.add(phrase);
      scored += ` ${phrase} `;
      continue;
    }
    const text = excludedPhrase ?? excludedWord ?? '';
    if (hasWords(text)) excluded.add(text);
  }
  const rest = value.slice(from);
  const operators = { free: free + rest, phrases: [...phrases], excluded: [...excluded] };
  return { value: scored + rest, operators };
}
