/** A search as one would write it without caring for speed: each word of the query is compared with each word of the item. */
import snowball from 'snowball-stemmers';
import type { Json } from '../../../src/contract/json.ts';
import type { IndexTexts, TextRules } from '../../../src/schemas/definition/index-texts.ts';
import { stopWordsOf } from '../../../src/search/analysis/languages.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';

/** Text -> its words. The same texts are searched by many queries. */
const knownWords = new Map<string, readonly string[]>();
const knownTextsMax = 20_000;

export function naiveWords(text: string): readonly string[] {
  const known = knownWords.get(text);
  if (known !== undefined) return known;
  if (knownWords.size >= knownTextsMax) knownWords.clear();
  const words = wordsOfText(text);
  knownWords.set(text, words);
  return words;
}

function wordsOfText(text: string): readonly string[] {
  const seen = [...text].filter(isSeen).join('');
  return runsIn(seen)
    .flatMap(({ run }) => naiveRunWords(run.normalize('NFKC')))
    .map(({ run }) => run.toLowerCase());
}

/** False for an invisible character, and for an enclosing mark. U+200B separates. */
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

/** Distances of all prefixes of `second`, the whole string last, to `first`. */
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

/** Smallest distance of a word to a prefix of another. */
export function naivePrefixDistance(word: string, other: string): number {
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
  readonly boost?: readonly NaiveBoost[] | null;
  readonly operators?: boolean | null;
}

interface NaiveBoost {
  readonly field: string;
  readonly weight: number;
  readonly origin?: string | null;
  readonly halfLife?: number | null;
}

/** How a term of a field matches a word of the query. */
export interface NaiveRole {
  readonly tier: number;
  /** In hundredths. */
  readonly factor: number;
}

/** A distinct word of the query as a field analyzes it. */
interface NaiveWord {
  readonly word: string;
  /** The distinct words of the query that it represents. */
  readonly sources: readonly string[];
  /** Of adjacent words of a text; null: they do not match. */
  readonly roleOf: (words: readonly string[]) => NaiveRole | null;
}

const tiers = [0, 1, 2];

/** The scores of items by docs/guide/ranking.md, in an index of these items; null for one that does not match. */
export function naiveScorer(
  sent: NaiveSearch,
  items: readonly IndexItem[],
  texts: IndexTexts = { rules: new Map(), synonyms: [] },
): (item: IndexItem) => number | null {
  const { value, phrases, excluded } =
    sent.operators === true ? naiveOperators(sent.value) : { value: sent.value, phrases: [], excluded: [] };
  const search = { ...sent, value };
  const wordScore = naiveWordScorer(search, items, texts);
  const names = (search.fields ?? [{ field: search.field ?? '' }]).map(({ field }) => field);
  const hasPhrase = (item: IndexItem, phrase: string) =>
    names.some((field) => {
      const rules = rulesOf(texts, field);
      const wanted = naiveAnalyzed(phrase, rules);
      return textsOf(item, field).some((text) => {
        const words = naiveAnalyzed(text, rules);
        return words.some(
          (_, at) => wanted.length > 0 && wanted.every((word, more) => words[at + more] === word),
        );
      });
    });
  return (item) => {
    const own = wordScore(item);
    const isOfPhrases = phrases.length > 0 && search.mode !== 'all';
    const isAll = naiveWords(value).length === 0 && excluded.length > 0;
    if (own === null && !isOfPhrases && !isAll) return null;
    if (!phrases.every((phrase) => hasPhrase(item, phrase))) return null;
    if (excluded.some((phrase) => hasPhrase(item, phrase))) return null;
    return (sent.boost ?? []).reduce((score, boost) => score * naiveBoost(item, boost), own ?? 0);
  };
}

function naiveBoost({ fields }: IndexItem, { field, weight, origin, halfLife }: NaiveBoost): number {
  const value = fields[field] ?? null;
  const numbers = (Array.isArray(value) ? value : [value]).flatMap((one) => {
    if (one === null) return [];
    return typeof halfLife === 'number' ? [new Date(String(one)).getTime()] : [Number(one)];
  });
  if (numbers.length === 0) return 1;
  const largest = Math.max(...numbers);
  if (typeof halfLife !== 'number') return 1 + weight * Math.log10(1 + Math.max(0, largest));
  const distance = Math.abs(largest - new Date(String(origin)).getTime());
  return 1 + weight * 2 ** (-distance / (halfLife * 86_400_000));
}

/** Reads a value character by character. */
function naiveOperators(value: string): { value: string; phrases: string[]; excluded: string[] } {
  const phrases: string[] = [];
  const excluded: string[] = [];
  let scored = '';
  for (let at = 0; at < value.length; ) {
    const isMinus = value[at] === '-' && (at === 0 || /\s/.test(value[at - 1] ?? ''));
    const from = isMinus ? at + 1 : at;
    const close = value[from] === '"' ? value.indexOf('"', from + 1) : -1;
    const blank = [...value.slice(from)].findIndex((sign) => /[\s"]/.test(sign));
    const end = close >= 0 ? close + 1 : blank < 0 ? value.length : from + blank;
    const text = close >= 0 ? value.slice(from + 1, close) : value.slice(from, end);
    if (isMinus && end > from) {
      excluded.push(text);
      at = end;
    } else if (close >= 0) {
      phrases.push(text);
      scored += ` ${text} `;
      at = end;
    } else {
      scored += value[at];
      at += 1;
    }
  }
  const isText = (text: string) => naiveWords(text).length > 0;
  return { value: scored, phrases: phrases.filter(isText), excluded: excluded.filter(isText) };
}

function naiveWordScorer(
  search: NaiveSearch,
  items: readonly IndexItem[],
  texts: IndexTexts,
): (item: IndexItem) => number | null {
  const fields = (search.fields ?? [{ field: search.field ?? '' }]).map(({ field, weight }) => {
    const rules = rulesOf(texts, field);
    return { field, weight: weight ?? 1, rules, words: naiveQueryWords(search, rules, texts.synonyms) };
  });
  type Field = (typeof fields)[number];
  const wordIn = ({ words }: Field, source: string) => words.find(({ sources }) => sources.includes(source));
  const sources = [...new Set(naiveWords(search.value))];
  const asked = sources.filter((source) => fields.some((field) => wordIn(field, source) !== undefined));
  // A word that some field drops need not match.
  const needed = sources.filter((source) => fields.every((field) => wordIn(field, source) !== undefined));
  const known = new Map(fields.map((field) => [field, new Map<IndexItem, (readonly string[])[]>()]));
  const wordsOf = (item: IndexItem, field: Field) => {
    const words =
      known.get(field)?.get(item) ??
      textsOf(item, field.field).map((text) => naiveAnalyzed(text, field.rules));
    known.get(field)?.set(item, words);
    return words;
  };
  const lengthOf = (item: IndexItem, field: Field) => wordsOf(item, field).flat().length;
  const averageOf = (field: Field) => {
    const lengths = items.map((item) => lengthOf(item, field)).filter((length) => length > 0);
    return lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  };
  const averages = new Map(fields.map((field) => [field, averageOf(field)]));
  /** Hundredths of the terms in some tiers, by field. */
  const sumsOf = (item: IndexItem, source: string, isTier: (tier: number) => boolean) =>
    fields.map((field) => {
      const word = wordIn(field, source);
      const roles = wordsOf(item, field).flatMap((words) => runsOf(words).map((run) => word?.roleOf(run)));
      return roles.reduce((sum, role) => sum + (role && isTier(role.tier) ? role.factor : 0), 0);
    });
  const matches = (item: IndexItem, source: string, isTier: (tier: number) => boolean) =>
    sumsOf(item, source, isTier).some((sum) => sum > 0);
  const statistics = asked.map((source) => {
    const counts = tiers.map(
      (tier) => items.filter((item) => matches(item, source, (one) => one === tier)).length,
    );
    const first = counts.findIndex((count) => count > 0);
    return { source, first, count: counts[first] ?? 0 };
  });
  return (item) => {
    let sum = 0;
    let close = 0;
    let isFound = false;
    for (const { source, first, count } of statistics) {
      if (first < 0) continue;
      const isClose = matches(item, source, (tier) => tier === first);
      const ofFields = sumsOf(item, source, (tier) => (isClose ? tier === first : tier > first));
      let x = 0;
      for (const [at, hundredths] of ofFields.entries()) {
        const field = fields[at];
        if (field === undefined || hundredths === 0) continue;
        isFound = true;
        const length = lengthOf(item, field) / (averages.get(field) ?? Number.NaN);
        x += (field.weight * (hundredths / 100)) / (1 - 0.6 + 0.6 * length);
      }
      if (isClose) close += 1;
      else x *= 0.1;
      const idf = Math.log(1 + (items.length - count + 0.5) / (count + 0.5));
      sum += (idf * x * 2) / (x + 1);
    }
    if (!isFound) return null;
    const isWhole = needed.every((source) => matches(item, source, () => true));
    if (search.mode === 'all' && sources.length > 1 && !isWhole) return null;
    const n = asked.length;
    return (Math.max(close, 0.5) / n) ** Math.min(1, 4 / n ** 2) * sum;
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

/** The words of a text as a field analyzes them. */
export function naiveAnalyzed(text: string, { foldAccents }: TextRules): string[] {
  return naiveWords(text)
    .map((word) => (foldAccents ? naiveFold(word, foldAccents) : word))
    .filter((word) => word !== '');
}

const longestPhrase = 4;

/** The words of a text, and the pairs of adjacent words. */
function runsOf(words: readonly string[]): string[][] {
  return words.flatMap((_, at) => {
    const lengths = Array.from(
      { length: Math.min(longestPhrase, words.length - at) },
      (__, more) => more + 1,
    );
    return lengths.map((length) => words.slice(at, at + length));
  });
}

/** A folded word as its stemmer gets it: with umlauts for written-out ones, and with the accents of French suffixes. */
function naiveUnfolded(word: string, { language, foldAccents }: TextRules): string {
  if (foldAccents === false) return word;
  if (language === 'fr') return word.replace(/ee(?=s?$)/, 'ée').replace(/iere(?=s?$)/, 'ière');
  if (language !== 'de' || foldAccents === true) return word;
  let text = '';
  for (let at = 0; at < word.length; at += 1) {
    const letter = word.charAt(at);
    const umlaut = word[at + 1] === 'e' ? { a: 'ä', o: 'ö', u: 'ü' }[letter] : undefined;
    const keepsU = letter === 'u' && /[qaeiouy]/.test(word[at - 1] ?? '');
    text += umlaut === undefined || keepsU ? letter : umlaut;
    if (umlaut !== undefined && !keepsU) at += 1;
  }
  return text;
}

const languageNames: Readonly<Record<string, string>> = { en: 'english', de: 'german', fr: 'french' };

export function naiveQueryWords(
  { value, literal, prefix, fuzziness }: NaiveSearch,
  rules: TextRules,
  synonyms: IndexTexts['synonyms'],
): NaiveWord[] {
  const { language, foldAccents } = rules;
  const fold = (word: string) => (foldAccents ? naiveFold(word, foldAccents) : word);
  const stops = new Set(language === null ? [] : stopWordsOf(language).map(fold));
  const stemmer = language === null ? null : snowball.newStemmer(languageNames[language] ?? '');
  const stem = (word: string) =>
    stemmer === null || stops.has(word) ? null : stemmer.stem(naiveUnfolded(word, rules));
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
      const roleOf = remembered((other): NaiveRole | null => {
        const roles: NaiveRole[] = [];
        if (other === word) roles.push({ tier: 0, factor: 100 });
        if (means.includes(other)) roles.push({ tier: 0, factor: 75 });
        if (!other.includes(' ')) {
          if (own !== null && stem(other) === own) roles.push({ tier: 0, factor: 50 });
          // A word whose length differs by more cannot match.
          const isFar = Math.abs([...other].length - length) > allowed;
          const distance = isFar ? Number.POSITIVE_INFINITY : naiveDistance(word, other);
          if (distance <= allowed) roles.push({ tier: distance, factor: [100, 60, 30][distance] ?? 0 });
          const begun = isLast(word) ? naivePrefixDistance(word, other) : Number.POSITIVE_INFINITY;
          if (begun <= allowed) roles.push({ tier: begun, factor: [50, 30, 15][begun] ?? 0 });
        }
        return roles.sort((a, b) => a.tier - b.tier || b.factor - a.factor)[0] ?? null;
      });
      const sources = [...new Set(sequence.filter((_, at) => all[at] === word))];
      return { word, sources, roleOf: (words) => roleOf(words.join(' ')) };
    });
}

/** What a word of the query also finds: the synonyms of the phrases that it is a part of. */
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

/** Large data repeats the same words many times. */
function remembered(roleOf: (other: string) => NaiveRole | null): (other: string) => NaiveRole | null {
  const known = new Map<string, NaiveRole | null>();
  return (other) => {
    const before = known.get(other);
    if (before !== undefined) return before;
    const role = roleOf(other);
    known.set(other, role);
    return role;
  };
}
