import { pace, type Steps } from '../../lib/pace.ts';
import { isPhrase } from '../analysis/phrase-finder.ts';
import type { AskedWord } from './asked-word.ts';
import type { FieldText } from './field-text.ts';
import { beginningEdits, costOf, stemEdits, synonymEdits } from './score.ts';
import type { TextIndex } from './text-index.ts';

/** The cost of looking up a term, in units of the pace. */
const unitsPerTerm = 100;

/** Terms that match a word alike. */
export interface MatchingTerms {
  /** How far the match is from the word itself, in the units of `costOf`. */
  readonly cost: number;
  /** Where the terms are. */
  readonly index: TextIndex;
  readonly places: readonly number[];
}

/**
 * The terms of a field that match a word, the cheapest first (docs/reference/indexes-and-queries.md "Search"). A term may
 * come twice, and then counts by its first place.
 */
export function* matchingTerms(text: FieldText, asked: AskedWord): Steps<MatchingTerms[]> {
  const { word, bound, isBeginning } = asked;
  const index = text.words;
  const [exact = [], ...misspelt] = yield* index.expand(word, bound);
  const matching = [{ cost: costOf(0), index, places: exact }, ...meantTerms(text, asked)];
  for (const [at, places] of misspelt.entries()) matching.push({ cost: costOf(at + 1), index, places });
  if (!isBeginning) return matching;
  for (const [distance, places] of (yield* index.expandBeginning(word, bound)).entries()) {
    matching.push({ cost: costOf(beginningEdits + distance), index, places });
  }
  return matching;
}

/** Synonyms of a word, then words with its stem. */
function meantTerms({ words, phrases }: FieldText, { synonyms, stem }: AskedWord): MatchingTerms[] {
  const meant: MatchingTerms[] = [];
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    if (index !== null) meant.push({ cost: costOf(synonymEdits), index, places: index.placesOf(term) });
  }
  if (stem !== null) meant.push({ cost: costOf(stemEdits), index: words, places: words.placesOfStem(stem) });
  pace.units += unitsPerTerm * meant.length;
  return meant;
}
