import type { SearchOperators } from '../checked-query.ts';
import { wordSequence } from '../text/words.ts';

/** A phrase, or a word behind a hyphen that stands at the beginning or behind a blank. */
const operator = /(^|(?<=\s))-(?:"([^"]*)"|([^\s"]+))|"([^"]*)"/gu;

/**
 * Reads the quotes and hyphens of a value (docs/reference/indexes-and-queries.md "Phrases and exclusions"). A quote that is
 * not closed is a separator.
 * @returns the words to score, and what is asked of the items besides
 */
export function readOperators(value: string): { value: string; operators: SearchOperators } {
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
      add(phrases, phrase);
      scored += ` ${phrase} `;
    } else add(excluded, excludedPhrase ?? excludedWord ?? '');
  }
  const rest = value.slice(from);
  const operators = { free: free + rest, phrases: [...phrases], excluded: [...excluded] };
  return { value: scored + rest, operators };
}

function add(texts: Set<string>, text: string): void {
  if (wordSequence(text).length > 0) texts.add(text);
}
