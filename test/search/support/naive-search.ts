/** A search as one would write it without caring for speed: each word of the query against each word of the item. */
import snowball from 'snowball-stemmers';
import type { Json } from '../../../src/contract/json.ts';
import { type IndexTexts, plainTexts, type TextRules } from '../../../src/schemas/definition/index-texts.ts';
import { stopWordsOf } from '../../../src/search/analysis/stop-words.ts';
import type { IndexItem } from '../../../src/search/index-item.ts';

export function naiveWords(text: string): string[] {
  const seen = [...text].filter(isSeen).join('');
  return runsIn(seen)
    .flatMap(({ run }) => naiveRunWords(run.normalize('NFKC')))
    .map(({ run }) => run.toLowerCase());
}

/** False for a character without a sign, and for one that encloses another. U+200B separates. */
export function isSeen(character: string): boolean {
  return character === '\u200b' || !/[\p{DI}\p{Me}]/u.test(character);
}

interface NaiveRun {
  readonly run: string;
  readonly at: number;
}

/** Runs of letters, marks and digits, without marks that follow no letter. */
export function runsIn(text: string): NaiveRun[] {
  const pattern = /[\p{L}\p{Nd}\p{Nl}][\p{L}\p{M}\p{Nd}\p{Nl}]*/gu;
  return [...text.matchAll(pattern)].map((match) => ({ run: match[0], at: match.index }));
}

const spaceless = /\p{sc=Han}|\p{sc=Hira}|\p{sc=Kana}|\p{sc=Thai}|\p{sc=Laoo}|\p{sc=Khmr}|\p{sc=Mymr}/u;

/** The words of a run in NFKC. */
export function naiveRunWords(normal: string): NaiveRun[] {
  return runsIn(normal).flatMap(({ run, at }) => {
    if (!spaceless.test(run)) return [{ run, at }];
    const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(run);
    return [...segments].map(({ segment, index }) => ({ run: segment, at: at + index }));
  });
}

/** Distances of the beginnings of `second`, the last of which is its whole, to `first`. */
function naiveDistances(first: string, second: string): number[] {
  const a = [...first];
  const b = [...second];
  const cells: number[][] = a.map(() => []);
  cells.push([]);
  const cell = (i: number, j: number): number => cells[i]?.[j] ?? Number.NaN;
  for (let i = 0; i <= a.length; i += 1) {
    const line = cells[i] ?? [];
    for (let j = 0; j <= b.length; j += 1) {
      if (i === 0 || j === 0) {
        line[j] = i + j;
        continue;
      }
      const replaced = cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, cell(i - 1, j) + 1, cell(i, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, cell(i - 2, j - 2) + 1);
      }
      line[j] = least;
    }
  }
  return cells[a.length] ?? [];
}

export function naiveDistance(first: string, second: string): number {
  return naiveDistances(first, second).at(-1) ?? Number.NaN;
}

/** Least distance of a word to a beginning of another. */
export function naiveBeginningDistance(word: string, other: string): number {
  return Math.min(...naiveDistances(word, other));
}

/** A search as it is sent. */
export interface NaiveSearch {
  readonly field?: string | null;
  readonly fields?: readonly { readonly field: string; readonly weight?: number | null }[] | null;
  readonly value: string;
  readonly literal?: boolean | null;
  readonly mode?: string | null;
  readonly prefix?: boolean | null;
  readonly fuzziness?: number | null;
}

/** How far words and phrases of a text are from a word of the query, in edits; infinite for those that do not match. */
export type Nearness = (words: readonly string[]) => number;

/** A distinct word of the query as a field has it. */
interface NaiveWord {
  readonly word: string;
  /** The distinct words of the query that it stands for. */
  readonly sources: readonly string[];
  readonly nearness: Nearness;
}

/** The score of an item; null when it does not match. */
export function naiveScorer(
  search: NaiveSearch,
  texts: IndexTexts = plainTexts,
): (item: IndexItem) => number | null {
  const fields = search.fields ?? [{ field: search.field ?? '' }];
  const asked = fields.map(({ field, weight }) => ({
    field,
    weight: weight ?? 1,
    rules: rulesOf(texts, field),
    words: naiveAsked(search, rulesOf(texts, field), texts.synonyms),
  }));
  const sources = [...new Set(naiveWords(search.value))];
  // A word that some field leaves out need not match.
  const needed = sources.filter((source) =>
    asked.every(({ words }) => words.some((one) => one.sources.includes(source))),
  );
  return (item) => {
    let score: number | null = null;
    const matched = new Set<string>();
    for (const { field, weight, rules, words } of asked) {
      const runs = textsOf(item, field).flatMap((text) => runsOf(naiveAnalyzed(text, rules)));
      let count = 0;
      let edits = 0;
      for (const { nearness, sources: ofWord } of words) {
        const nearest = Math.min(...runs.map(nearness));
        if (nearest === Number.POSITIVE_INFINITY) continue;
        count += 1;
        edits += nearest;
        for (const source of ofWord) matched.add(source);
      }
      if (count > 0) score = (score ?? 0) + weight * (count - 1 + 1 / (1 + edits));
    }
    return search.mode === 'all' && sources.length > 1 && needed.some((source) => !matched.has(source))
      ? null
      : score;
  };
}

function textsOf({ fields }: IndexItem, field: string): string[] {
  const value: Json = Object.hasOwn(fields, field) ? (fields[field] ?? null) : null;
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  return typeof value === 'string' ? [value] : [];
}

export function rulesOf({ rules }: IndexTexts, field: string): TextRules {
  return rules.get(field) ?? { language: null, foldAccents: false };
}

const strokes: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

const writtenOut: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', æ: 'ae', ø: 'oe' };

export function naiveFold(text: string, folding: TextRules['foldAccents'] = true): string {
  const word = folding === true ? text : [...text].map((letter) => writtenOut[letter] ?? letter).join('');
  const scripts = '\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrl}\\p{sc=Hebr}\\p{sc=Arab}';
  const letters = [...word.normalize('NFKD').replace(new RegExp(`(?<=[${scripts}]\\p{M}*)\\p{M}`, 'gu'), '')];
  return letters
    .map((letter) => strokes[letter] ?? letter)
    .join('')
    .normalize('NFC');
}

/** The words of a text as a field has them. */
export function naiveAnalyzed(text: string, { foldAccents }: TextRules): string[] {
  return naiveWords(text)
    .map((word) => (foldAccents ? naiveFold(word, foldAccents) : word))
    .filter((word) => word !== '');
}

const longestPhrase = 4;

/** The words of a text, and what stands next to each other in it. */
function runsOf(words: readonly string[]): string[][] {
  return words.flatMap((_, at) => {
    const lengths = Array.from(
      { length: Math.min(longestPhrase, words.length - at) },
      (__, more) => more + 1,
    );
    return lengths.map((length) => words.slice(at, at + length));
  });
}

const languageNames: Readonly<Record<string, string>> = { en: 'english', de: 'german', fr: 'french' };

export function naiveAsked(
  { value, literal, prefix, fuzziness }: NaiveSearch,
  rules: TextRules,
  synonyms: IndexTexts['synonyms'],
): NaiveWord[] {
  const { language, foldAccents } = rules;
  const fold = (word: string) => (foldAccents ? naiveFold(word, foldAccents) : word);
  const stops = new Set(language === null ? [] : stopWordsOf(language).map(fold));
  const stemmer = language === null ? null : snowball.newStemmer(languageNames[language] ?? '');
  const stem = (word: string) => (stemmer === null || stops.has(word) ? null : stemmer.stem(word));
  const sequence = naiveWords(value);
  const all = sequence.map(fold);
  const last = all.at(-1);
  const isLast = (word: string) => prefix === true && word === last;
  const meaning = all.filter((word) => !stops.has(word) || isLast(word));
  const isBare = meaning.length === 0;
  return [...new Set(isBare ? all : meaning)]
    .filter((word) => word !== '')
    .map((word) => {
      const { length } = [...word];
      const usual = length <= 2 ? 0 : length <= 5 ? 1 : 2;
      const allowed = literal || isBare ? 0 : (fuzziness ?? usual);
      const own = isBare ? null : stem(word);
      const means = isBare ? [] : naiveSynonyms(all, word, rules, synonyms);
      const nearness = remembered((other) => {
        if (other === word) return 0;
        if (means.includes(other)) return 0.25;
        if (other.includes(' ')) return Number.POSITIVE_INFINITY;
        if (own !== null && stem(other) === own) return 0.5;
        // A word whose length differs by more is out of reach.
        const isFar = Math.abs([...other].length - length) > allowed;
        const distance = isFar ? Number.POSITIVE_INFINITY : naiveDistance(word, other);
        if (distance <= allowed) return distance;
        const begun = isLast(word) ? naiveBeginningDistance(word, other) : Number.POSITIVE_INFINITY;
        return begun <= allowed ? 3 + begun : Number.POSITIVE_INFINITY;
      });
      const sources = [...new Set(sequence.filter((_, at) => all[at] === word))];
      return { word, sources, nearness: (words) => nearness(words.join(' ')) };
    });
}

/** What a word of the query also finds: the synonyms of the texts that it is a part of. */
function naiveSynonyms(
  query: readonly string[],
  word: string,
  rules: TextRules,
  synonyms: IndexTexts['synonyms'],
): string[] {
  const found: string[] = [];
  for (const { from, to } of synonyms) {
    for (const text of from) {
      const words = naiveAnalyzed(text, rules);
      if (!words.includes(word)) continue;
      const stands = query.some((_, at) => words.every((one, more) => query[at + more] === one));
      if (stands)
        found.push(
          ...to
            .map((other) => naiveAnalyzed(other, rules).join(' '))
            .filter((term) => term !== words.join(' ')),
        );
    }
  }
  return found;
}

/** Large data has the same words again and again. */
function remembered(nearness: (other: string) => number): (other: string) => number {
  const known = new Map<string, number>();
  return (other) => {
    const before = known.get(other) ?? nearness(other);
    known.set(other, before);
    return before;
  };
}
