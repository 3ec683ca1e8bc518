import { type Analyzer, foldAccents, type QueryWord, sharedWords } from '../analysis/analyzer.ts';
import { isPhrase, PhraseFinder, phraseTerm } from '../analysis/phrase-terms.ts';
import type { Letters } from '../analysis/word-segmentation.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { EditDistance } from '../text/edit-distance.ts';
import { hasMoreBits, letterMask } from '../text/letter-signature.ts';

/** Distances of synonyms and words with the same stem, for choosing passages: less than that of a misspelled word. */
const synonymEdits = 0.25;
const stemEdits = 0.5;
/** Added to the edits of a prefix match, because matches of whole words have fewer. */
const prefixEdits = 3;

/** A match of a word with words of a search. */
export interface WordMatch {
  /** Indexes of the matching words of the search. */
  readonly queryWords: readonly number[];
  /** Edits of the closest match. */
  readonly edits: number;
}

interface MeasuredWord extends QueryWord {
  readonly mask: number;
  readonly distance: EditDistance;
}

/** Tests whether a search finds a word, without an index. Results are cached. */
export class WordMatcher {
  readonly #analyzer: Analyzer;
  readonly #queryWords: readonly MeasuredWord[];
  readonly #known = new Map<string, WordMatch | null>();
  /** Terms of one or several words that must match exactly. */
  readonly #quoted: readonly string[];
  /** Finds terms of several words; null if there are none. */
  readonly phrases: PhraseFinder | null;

  /** The matcher of a search. Words that only occur in quotes match only as the whole phrase. */
  static of(search: CheckedSearch, analyzer: Analyzer): WordMatcher {
    const words = analyzer.queryWords(search);
    const { operators } = search;
    if (operators === null) return new WordMatcher(words, analyzer);
    const sources = [...new Set(sharedWords(search))];
    const free = new Set(sharedWords(search, operators.free));
    const isFree = (source: number) => free.has(sources[source] ?? '');
    const quoted = operators.phrases.map((phrase) => phraseTerm(analyzer.terms(phrase)));
    return new WordMatcher(
      words.filter((one) => one.sources.some(isFree)),
      analyzer,
      quoted,
    );
  }

  private constructor(words: readonly QueryWord[], analyzer: Analyzer, quoted: readonly string[] = []) {
    const phrases = [...words.flatMap(({ synonyms }) => [...synonyms]), ...quoted].filter(isPhrase);
    this.#quoted = quoted;
    this.phrases = phrases.length === 0 ? null : new PhraseFinder(new Set(phrases));
    this.#analyzer = analyzer;
    this.#queryWords = words.map((one) => {
      const distance = new EditDistance();
      distance.setWord(one.word);
      return { mask: letterMask(one.word), distance, ...one };
    });
  }

  /** The characters that words of a text consist of. */
  get letters(): Letters {
    return this.#analyzer.cutter.letters;
  }

  /** True if the texts are HTML. */
  get isHtml(): boolean {
    return this.#analyzer.isHtml;
  }

  /** A word of a text as the field indexes it; empty if nothing is left. */
  word(word: string): string {
    return this.#analyzer.word(word);
  }

  /** How a word matches the search; null if it does not. @param word as the field indexes it, or a phrase of `phrases` */
  match(word: string): WordMatch | null {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const match = this.#compare(word);
    this.#known.set(word, match);
    return match;
  }

  #compare(word: string): WordMatch | null {
    const mask = letterMask(word);
    const indexes: number[] = [];
    let least = Number.POSITIVE_INFINITY;
    // The words of a phrase are also compared individually.
    const isOne = !isPhrase(word);
    for (const [at, queryWord] of this.#queryWords.entries()) {
      const edits = this.#meant(queryWord, word) ?? (isOne ? editsTo(queryWord, word, mask) : null);
      if (edits === null) continue;
      indexes.push(at);
      least = Math.min(least, edits);
    }
    const quoted = this.#quoted.indexOf(word);
    if (quoted >= 0) {
      indexes.push(this.#queryWords.length + quoted);
      least = 0;
    }
    return indexes.length === 0 ? null : { queryWords: indexes, edits: least };
  }

  /** The distance of the word itself, of synonyms and of words with its stem; null for other words. */
  #meant({ word, synonyms, stem }: MeasuredWord, other: string): number | null {
    if (word === other) return 0;
    if (synonyms.has(other)) return synonymEdits;
    if (stem === null || !mayShareStem(word, other)) return null;
    return this.#analyzer.stem?.(other) === stem ? stemEdits : null;
  }
}

/** Stemmers only change endings and accents, so words with another first letter need not be stemmed, which is slow. */
function mayShareStem(word: string, other: string): boolean {
  return !isPhrase(other) && foldAccents(word.charAt(0)).charAt(0) === foldAccents(other.charAt(0)).charAt(0);
}

/** The edits of similarly spelled words; null for others. */
function editsTo(
  { bound, isPrefix, mask, distance }: MeasuredWord,
  other: string,
  otherMask: number,
): number | null {
  if (hasMoreBits(mask & ~otherMask, bound)) return null;
  if (bound > 0 && !hasMoreBits(otherMask & ~mask, bound)) {
    const edits = distance.within(other, bound);
    if (edits <= bound) return edits;
  }
  if (!isPrefix) return null;
  const edits = distance.prefixWithin(other, bound);
  return edits <= bound ? prefixEdits + edits : null;
}
