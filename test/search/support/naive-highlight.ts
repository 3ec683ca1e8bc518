/** Highlights as one would write them without caring for speed. */
import type { IndexTexts, TextRules } from '../../../src/schemas/definition/index-texts.ts';
import {
  isSeen,
  type NaiveSearch,
  naiveFold,
  naiveQueryWords,
  naiveRunWords,
  naiveWords,
  runsIn,
} from './naive-search.ts';

interface NaivePlace {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a text with the smallest part of the text that each comes from. */
export function naivePlaces(text: string): NaivePlace[] {
  const units: number[] = [];
  let visible = '';
  let at = 0;
  for (const character of text) {
    if (isSeen(character)) {
      visible += character;
      for (let unit = 0; unit < character.length; unit += 1) units.push(at + unit);
    }
    at += character.length;
  }
  const placesOf = ({ run, at: from }: { run: string; at: number }) =>
    placesInRun(run).map(({ word, start, end }) => ({
      word,
      start: units[from + start] ?? Number.NaN,
      end: (units[from + end - 1] ?? Number.NaN) + 1,
    }));
  return runsIn(visible).flatMap(placesOf);
}

/** A run may be split where normalizing the halves separately gives the normalized run. */
function placesInRun(text: string): NaivePlace[] {
  const normal = text.normalize('NFKC');
  const splits: [source: number, normal: number][] = [];
  for (let at = 0; at <= text.length; at += 1) {
    if (at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff) continue;
    const [before, behind] = [text.slice(0, at).normalize('NFKC'), text.slice(at).normalize('NFKC')];
    if (before + behind === normal) splits.push([at, before.length]);
  }
  return naiveRunWords(normal).map(({ run, at }) => {
    const starts = splits.filter(([, place]) => place <= at).map(([source]) => source);
    const ends = splits.filter(([, place]) => place >= at + run.length).map(([source]) => source);
    return { word: run.toLowerCase(), start: Math.max(...starts), end: Math.min(...ends) };
  });
}

/** How the words of a text are analyzed; absent: unchanged. */
export interface NaiveReading {
  readonly rules: TextRules;
  readonly synonyms: IndexTexts['synonyms'];
}

const plain: NaiveReading = { rules: { language: null, foldAccents: false }, synonyms: [] };

/** The positions of a text that a search finds. Overlapping ones are merged. */
export function naiveMatches(
  text: string,
  search: NaiveSearch,
  { rules, synonyms }: NaiveReading = plain,
): [start: number, end: number][] {
  const asked = naiveQueryWords(search, rules, synonyms);
  const isFound = (words: string[]) => asked.some(({ roleOf }) => roleOf(words) !== null);
  const places = naivePlaces(text)
    .map(({ word, ...place }) => ({
      ...place,
      word: rules.foldAccents ? naiveFold(word, rules.foldAccents) : word,
    }))
    .filter(({ word }) => word !== '');
  const marked = new Set<number>();
  for (const from of places.keys()) {
    for (let length = 1; length <= 4 && from + length <= places.length; length += 1) {
      if (!isFound(places.slice(from, from + length).map(({ word }) => word))) continue;
      for (let at = from; at < from + length; at += 1) marked.add(at);
    }
  }
  const found: [number, number][] = [];
  for (const [at, { start, end }] of places.entries()) {
    if (!marked.has(at)) continue;
    const last = found.at(-1);
    if (last !== undefined && last[1] > start) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
}

/** A whole text with its marks. */
export function naiveMarked(
  text: string,
  search: NaiveSearch,
  before: string,
  after: string,
  reading: NaiveReading = plain,
): string {
  let marked = text;
  for (const [start, end] of naiveMatches(text, search, reading).reverse()) {
    marked = `${marked.slice(0, start)}${before}${marked.slice(start, end)}${after}${marked.slice(end)}`;
  }
  return marked;
}

/** How many different words of a search are in a part of a text. */
export function naiveWordCount(text: string, search: NaiveSearch): number {
  const words = naiveWords(text);
  return naiveQueryWords(search, plain.rules, []).filter(({ roleOf }) =>
    words.some((word) => roleOf([word]) !== null),
  ).length;
}
