import type { Analyzer } from '../analysis/analyzer.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { allowedDistance, wordSequence } from './words.ts';

/** A word that a search asks for in a field. */
export interface AskedWord {
  /** As the field writes it. */
  readonly word: string;
  /** Edits that are allowed. */
  readonly bound: number;
  /** Words that begin with it count as well. */
  readonly isBeginning: boolean;
  /** Words with this stem count as well; null: none. */
  readonly stem: string | null;
  /** Terms of one or several words that count as well. */
  readonly synonyms: ReadonlySet<string>;
  /** The distinct words of the query that it stands for. There are several when the field writes them alike. */
  readonly sources: readonly number[];
}

const noSynonyms: ReadonlySet<string> = new Set();

/** The distinct words of a search as a field writes them, in order of appearance, without stop words. */
export function askedWords(search: CheckedSearch, analyzer: Analyzer): AskedWord[] {
  const sequence = wordSequence(search.value);
  const words = sequence.map((word) => analyzer.word(word));
  const synonyms = analyzer.synonyms?.of(words) ?? [];
  const last = words.length - 1;
  const isOpen = (at: number) => search.prefix && words[at] === words[last];
  // The last word of a prefix search may become any other.
  const isStop = words.map((word, at) => analyzer.isStopWord(word) && !isOpen(at));
  const isBare = isStop.every((stop) => stop);
  const asked = new Map<string, AskedWord>();
  const sources = [...new Set(sequence)];
  for (const [at, word] of words.entries()) {
    if (word === '' || (isStop[at] && !isBare)) continue;
    const source = sources.indexOf(sequence[at] ?? '');
    const known = asked.get(word);
    asked.set(word, {
      word,
      // Stop words alone find only themselves.
      bound: search.literal || isStop[at] ? 0 : (search.fuzziness ?? allowedDistance(word)),
      isBeginning: isOpen(at),
      stem: isStop[at] ? null : (analyzer.stem?.(word) ?? null),
      synonyms: isStop[at] ? noSynonyms : new Set([...(known?.synonyms ?? []), ...(synonyms[at] ?? [])]),
      sources: [...new Set([...(known?.sources ?? []), source])],
    });
  }
  return [...asked.values()];
}

/** The number of distinct words of a search. */
export function sourceCount({ value }: CheckedSearch): number {
  return new Set(wordSequence(value)).size;
}
