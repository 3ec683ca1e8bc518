import type { IndexTexts, TextRules } from '../../schemas/definition/index-texts.ts';
import { foldAccents } from './fold.ts';
import { type Stem, stemmerOf } from './stemmers.ts';
import { stopWordsOf } from './stop-words.ts';
import { SynonymTable } from './synonyms.ts';

/** How the words of a field are written, and which others they mean (docs/reference/indexes-and-queries.md "Words of a field"). */
export class Analyzer {
  /** Null: the field has no language. */
  readonly stem: Stem | null;
  /** Null: the index has none. */
  readonly synonyms: SynonymTable | null;
  readonly #folds: boolean;
  readonly #stopWords: ReadonlySet<string>;

  constructor({ language, foldAccents: folds }: TextRules, synonyms: IndexTexts['synonyms'] = []) {
    this.#folds = folds;
    this.#stopWords = new Set(language === null ? [] : stopWordsOf(language).map((word) => this.word(word)));
    const stem = language === null ? null : stemmerOf(language);
    this.stem = stem && ((word) => (this.isStopWord(word) ? null : stem(word)));
    this.synonyms = synonyms.length === 0 ? null : new SynonymTable(synonyms, (word) => this.word(word));
  }

  /** A word of a text or a query as it is written here; empty for none. */
  word(word: string): string {
    return this.#folds ? foldAccents(word) : word;
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(word);
  }

  /** True when words are taken as they are, so a text need not be read word by word. */
  get isPlain(): boolean {
    return !this.#folds && this.synonyms === null;
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
