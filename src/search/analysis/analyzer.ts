import type { Folding, IndexTexts, TextRules } from '../../schemas/definition/index-texts.ts';
import type { CheckedSearch } from '../checked-query.ts';
import { type Stem, stemmerOf, stopWordsOf } from './languages.ts';
import { SynonymTable } from './phrase-terms.ts';
import { allowedDistance, type Cutter, cutterOf } from './words.ts';

/** A word of a search, for one field. */
export interface QueryWord {
  /** In the form in which the field indexes it. */
  readonly word: string;
  /** Maximum edit distance. */
  readonly bound: number;
  /** True if words that begin with it match, too. */
  readonly isPrefix: boolean;
  /** Words with this stem match, too; null: none. */
  readonly stem: string | null;
  /** Terms of one or several words that match, too. */
  readonly synonyms: ReadonlySet<string>;
  /**
   * Indexes of the distinct words of the query that it represents. Several if the field indexes them alike, or as one word.
   */
  readonly sources: readonly number[];
}

const noSynonyms: ReadonlySet<string> = new Set();

/** The words of a search text before field-specific rules. @param text absent: its value */
export function sharedWords({ value, keep = '' }: CheckedSearch, text = value): string[] {
  return cutterOf(keep).cut(text);
}

/** Each of `sharedWords` once, in order of appearance. */
export function distinctWords(search: CheckedSearch): string[] {
  return [...new Set(sharedWords(search))];
}

/** Normalizes the words of a field and finds their synonyms (docs/reference/indexes-and-queries.md "Words of a field"). */
export class Analyzer {
  /** Null: the field has no language. */
  readonly stem: Stem | null;
  /** Null: the index has no synonyms. */
  readonly synonyms: SynonymTable | null;
  readonly cutter: Cutter;
  /** True if the texts are HTML. */
  readonly isHtml: boolean;
  readonly #keep: string;
  readonly #folding: Folding;
  readonly #stopWords: ReadonlySet<string>;

  constructor(
    { language, foldAccents: folding, keep = '', format }: TextRules,
    synonyms: IndexTexts['synonyms'] = [],
  ) {
    this.#folding = folding;
    this.#keep = keep;
    this.cutter = cutterOf(keep);
    this.isHtml = format === 'html';
    this.#stopWords = new Set(language === null ? [] : stopWordsOf(language).map((word) => this.word(word)));
    const stem = language === null ? null : stemmerOf(language, folding);
    this.stem = stem && ((word) => (this.isStopWord(word) ? null : stem(word)));
    this.synonyms = synonyms.length === 0 ? null : new SynonymTable(synonyms, (text) => this.terms(text));
  }

  /** A word of a text or query as this field indexes it; empty if nothing is left. */
  word(word: string): string {
    return this.#folding === false ? word : foldAccents(word, this.#folding);
  }

  /** The words of a short text as this field indexes them. */
  terms(text: string): string[] {
    return this.cutter
      .cut(text)
      .map((word) => this.word(word))
      .filter((word) => word !== '');
  }

  isStopWord(word: string): boolean {
    return this.#stopWords.has(word);
  }

  /**
   * The distinct words of a search as the field indexes them, in order of appearance, without stop words.
   * @param shared its `distinctWords`, which the sources are indexes of
   */
  queryWords(search: CheckedSearch, shared: readonly string[] = distinctWords(search)): QueryWord[] {
    const sequence = this.cutter.cut(search.value);
    const words = sequence.map((word) => this.word(word));
    const synonyms = this.synonyms?.of(words) ?? [];
    const last = words.length - 1;
    const isOpen = (at: number) => search.prefix && words[at] === words[last];
    // The last word of a prefix search may still grow into another word.
    const isStop = words.map((word, at) => this.isStopWord(word) && !isOpen(at));
    const isBare = isStop.every((stop) => stop);
    const found = new Map<string, QueryWord>();
    const sourcesOf = (word: string) =>
      (search.keep ?? '') === this.#keep ? [shared.indexOf(word)] : sourcesIn(shared, search, word);
    for (const [at, word] of words.entries()) {
      if (word === '' || (isStop[at] && !isBare)) continue;
      const sources = sourcesOf(sequence[at] ?? '');
      const known = found.get(word);
      found.set(word, {
        word,
        // A search with only stop words matches exactly these.
        bound: search.literal || isStop[at] ? 0 : (search.fuzziness ?? allowedDistance(word)),
        isPrefix: isOpen(at),
        stem: isStop[at] ? null : (this.stem?.(word) ?? null),
        synonyms: isStop[at] ? noSynonyms : new Set([...(known?.synonyms ?? []), ...(synonyms[at] ?? [])]),
        sources: [...new Set([...(known?.sources ?? []), ...sources])],
      });
    }
    return [...found.values()];
  }

  /** True if words are indexed as they are split. */
  get isPlain(): boolean {
    return this.#folding === false && this.synonyms === null;
  }
}

/** Indexes of the words that a field with more kept characters indexes as one. */
function sourcesIn(shared: readonly string[], search: CheckedSearch, word: string): number[] {
  const places = sharedWords(search, word).map((part) => shared.indexOf(part));
  return places.filter((place) => place >= 0);
}

const noRules: TextRules = { language: null, foldAccents: false };

/** For fields without rules in indexes without synonyms. */
export const plainAnalyzer = new Analyzer(noRules);

/** The analyzer of each field. Fields with the same rules share one. */
export function analyzersOf({ rules, synonyms }: IndexTexts): (field: string) => Analyzer {
  const made = new Map<string, Analyzer>();
  return (field) => {
    const own = rules.get(field) ?? noRules;
    const key = `${own.language} ${own.foldAccents} ${own.format} ${own.keep}`;
    const analyzer = made.get(key) ?? new Analyzer(own, synonyms);
    made.set(key, analyzer);
    return analyzer;
  };
}

/** Ligatures and letters with a stroke, which NFKD does not decompose. */
export const foldedLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

/** German and Danish transliterations, keyed in NFKD so that additional marks do not matter. */
const transliterations: Readonly<Record<string, string>> = {
  'a\u0308': 'ae',
  'o\u0308': 'oe',
  'u\u0308': 'ue',
  'a\u030a': 'aa',
  æ: 'ae',
  ø: 'oe',
};
const transliteratedLetter = /[aou]\u0308|a\u030a|[æø]/g;

const plain = /^[ -~]*$/;
const mark = /^\p{M}/u;
const someMark = /\p{M}/u;
/** Scripts whose letters stay the same letters without their marks. */
const losesMarks = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}]/u;

/** A lower-cased word without its accents (docs/reference/indexes-and-queries.md "Words of a field"). */
export function foldAccents(word: string, folding: true | 'de' | 'da' = true): string {
  if (plain.test(word)) return word;
  const decomposed = word.normalize('NFKD');
  const spelled =
    folding === true
      ? decomposed
      : decomposed.replace(transliteratedLetter, (letter) => transliterations[letter] ?? letter);
  // Recomposes what NFKD decomposed besides accents, such as Korean syllables, because the length of a word matters.
  return withoutMarks(spelled)
    .replace(/[ßæœøłđı]/g, (letter) => foldedLetters[letter] ?? letter)
    .normalize('NFC');
}

function withoutMarks(word: string): string {
  if (!someMark.test(word)) return word;
  let kept = '';
  let isLost = false;
  for (const character of word) {
    if (mark.test(character)) {
      if (!isLost) kept += character;
      continue;
    }
    isLost = losesMarks.test(character);
    kept += character;
  }
  return kept;
}
