import { isPhrase } from '../analysis/phrase-finder.ts';
import { pace, type Steps } from '../pace.ts';
import type { AskedWord } from './asked-word.ts';
import type { FieldText } from './field-text.ts';
import { beginningEdits, costOf, stemEdits, synonymEdits } from './score.ts';

/** Docs that have a term which matches a word. */
export interface MatchingTerm {
  /** How far the match is from the word itself, in the units of `costOf`. */
  readonly cost: number;
  /** Docs that have the term, dead ones included. It is the list of the postings, which must neither be changed nor kept. */
  readonly docs: readonly number[];
}

/** The cost of looking up a term, in units of the pace. */
const unitsPerTerm = 100;

/**
 * The terms of a field that match a word, the cheapest first (docs/reference/indexes-and-queries.md "Search"). A term may
 * come twice, and then counts by its first place.
 */
export function* matchingTerms(text: FieldText, asked: AskedWord): Steps<MatchingTerm[]> {
  const { word, bound, isBeginning } = asked;
  const matching: MatchingTerm[] = [];
  for (const { distance, docs } of yield* text.words.expand(word, bound)) {
    matching.push({ cost: costOf(distance), docs });
  }
  const meant = meantTerms(text, asked);
  if (meant.length > 0) {
    const exact = matching.findIndex(({ cost }) => cost > 0);
    matching.splice(exact < 0 ? matching.length : exact, 0, ...meant);
  }
  if (!isBeginning) return matching;
  for (const { distance, docs } of yield* text.words.expandBeginning(word, bound)) {
    matching.push({ cost: costOf(beginningEdits + distance), docs });
    if (pace.isOver()) yield;
  }
  return matching;
}

/** Synonyms of a word, then words with its stem. */
function meantTerms({ words, phrases }: FieldText, { synonyms, stem }: AskedWord): MatchingTerm[] {
  const meant: MatchingTerm[] = [];
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    meant.push({ cost: costOf(synonymEdits), docs: index?.docsOf(term) ?? [] });
  }
  if (stem !== null) {
    for (const docs of words.docsOfStem(stem)) meant.push({ cost: costOf(stemEdits), docs });
  }
  pace.units += unitsPerTerm * meant.length;
  return meant;
}
