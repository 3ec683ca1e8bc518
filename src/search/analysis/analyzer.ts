import type { Folding, IndexTexts, TextRules } from '../../schemas/definition/index-texts.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { allowedDistance, wordSequence } from '../text/words.ts';
import { foldAccents } from './fold.ts';
import { type Stem, stemmerOf } from './stemmers.ts';
import { stopWordsOf } from './stop-words.ts';
import { SynonymTable } from './synonyms.ts';

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

/** How the words of a field are written, and which others they mean (docs/reference/indexes-and-queries.md "Words of a field"). */
export class Analyzer {
  /** Null: the field has no language. */
  readonly stem: Stem | null;
  /** Null: the index has none. */
  readonly synonyms: SynonymTable | null;
  readonly #folding: Folding;
  readonly #stopWords: ReadonlySet<string>;

  constructor({ language, foldAccents: folding }: TextRules, synonyms: IndexTexts['synonyms'] = []) {
    this.#folding = folding;
    this.#stopWords = new Set(language === null ? [] : stopWordsOf(language).map((word) => this.word(word)));
    const stem = language === null ? null : stemmerOf(language);
    this.stem = stem && ((word) => (this.isStopWord(word) ? null : stem(word)));
    this.synonyms = synonyms.length === 0 ? null : new SynonymTable(synonyms, (word) => this.word(word));
  }

  /** A word of a text or a query as it is written here; empty for none. */
  word(word: string): string {
    return this.#folding === false ? word : foldAccents(word, this.#folding);
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(word);
  }

  /** The distinct words of a search as the field writes them, in order of appearance, without stop words. */
  askedWords(search: CheckedSearch): AskedWord[] {
    const sequence = wordSequence(search.value);
    const words = sequence.map((word) => this.word(word));
    const synonyms = this.synonyms?.of(words) ?? [];
    const last = words.length - 1;
    const isOpen = (at: number) => search.prefix && words[at] === words[last];
    // The last word of a prefix search may become any other.
    const isStop = words.map((word, at) => this.isStopWord(word) && !isOpen(at));
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
        stem: isStop[at] ? null : (this.stem?.(word) ?? null),
        synonyms: isStop[at] ? noSynonyms : new Set([...(known?.synonyms ?? []), ...(synonyms[at] ?? [])]),
        sources: [...new Set([...(known?.sources ?? []), source])],
      });
    }
    return [...asked.values()];
  }

  /** True when words are taken as they are, so a text need not be read word by word. */
  get isPlain(): boolean {
    return this.#folding === false && this.synonyms === null;
  }
}

const noRules: TextRules = { language: null, foldAccents: false };

/** Of fields that have no rules, in indexes without synonyms. */
export const plainAnalyzer = new Analyzer(noRules);

/** The analyzer of each field. Those with the same rules share one. */
export function analyzersOf({ rules, synonyms }: IndexTexts): (field: string) => Analyzer {
  const made = new Map<string, Analyzer>();
  return (field) => {
    const own = rules.get(field) ?? noRules;
    const key = `${own.language} ${own.foldAccents}`;
    const analyzer = made.get(key) ?? new Analyzer(own, synonyms);
    made.set(key, analyzer);
    return analyzer;
  };
}
