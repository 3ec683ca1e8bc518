import { pace, type Steps } from '../../lib/pace.ts';
import type { AskedWord } from '../analysis/analyzer.ts';
import { isPhrase } from '../analysis/phrase-finder.ts';
import { Bitmap } from '../bitmap.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { Scratch } from '../shard/scratch.ts';
import type { FieldText } from './field-text.ts';
import type { DocRun } from './postings.ts';
import {
  beginningEdits,
  costOf,
  type DocScore,
  scoreOf,
  stemEdits,
  synonymEdits,
  wordWeight,
} from './score.ts';
import type { TextIndex } from './text-index.ts';
import { wordSequence } from './words.ts';

/** The cost of finding the docs of a term, in units of the pace. */
const unitsPerTerm = 5;
/** The cost of looking up a term that means a word. */
const unitsPerMeantTerm = 100;

/** A field that is searched. */
export interface SearchedField {
  readonly text: FieldText;
  readonly weight: number;
}

/** What a search found. The docs that match are the first `count` of `scratch.hits`. */
export interface Found {
  readonly count: number;
  /** The first `touchedCount` docs have a score in the scratch, which must be set back. They are those that match, and more. */
  readonly touched: Int32Array;
  readonly touchedCount: number;
  readonly scoreOf: DocScore;
}

/** Terms that match a word alike. */
interface MatchingTerms {
  /** How far the match is from the word itself, in the units of `costOf`. */
  readonly cost: number;
  /** Where the terms are. */
  readonly index: TextIndex;
  readonly places: readonly number[];
}

/** A word of a search in one field, with the terms that match it. */
interface MatchedWord {
  readonly sources: AskedWord['sources'];
  readonly terms: readonly MatchingTerms[];
}

interface FieldMatch {
  readonly weight: number;
  readonly words: readonly MatchedWord[];
}

/** Finds the docs in which words of the search match words of the fields, and scores them. */
export function* runSearch(
  search: CheckedSearch,
  fields: readonly SearchedField[],
  live: Bitmap,
  scratch: Scratch,
): Steps<Found> {
  const matches: FieldMatch[] = [];
  for (const { text, weight } of fields) {
    matches.push({ weight, words: yield* matchedWords(text, search) });
  }
  const found = yield* scored(matches, live, scratch);
  const count = new Set(wordSequence(search.value)).size;
  return search.mode === 'any' || count === 1 ? found : yield* withEachWord(matches, count, found, scratch);
}

function* matchedWords(text: FieldText, search: CheckedSearch): Steps<MatchedWord[]> {
  const words: MatchedWord[] = [];
  for (const asked of text.analyzer.askedWords(search)) {
    words.push({ sources: asked.sources, terms: yield* matchingTerms(text, asked) });
    if (pace.isOver()) yield;
  }
  return words;
}

/**
 * The terms of a field that match a word, the cheapest first (docs/reference/indexes-and-queries.md "Search"). A term may
 * come twice, and then counts by its first place.
 */
function* matchingTerms(text: FieldText, asked: AskedWord): Steps<MatchingTerms[]> {
  const { word, bound, isBeginning } = asked;
  const index = text.words;
  const [exact = [], ...misspelt] = yield* index.terms.within(word, bound);
  const matching = [{ cost: costOf(0), index, places: exact }, ...meantTerms(text, asked)];
  for (const [at, places] of misspelt.entries()) matching.push({ cost: costOf(at + 1), index, places });
  if (!isBeginning) return matching;
  for (const [distance, places] of (yield* index.terms.beginningWithin(word, bound)).entries()) {
    matching.push({ cost: costOf(beginningEdits + distance), index, places });
  }
  return matching;
}

/** Synonyms of a word, then words with its stem. */
function meantTerms({ words, phrases }: FieldText, { synonyms, stem }: AskedWord): MatchingTerms[] {
  const meant: MatchingTerms[] = [];
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    if (index !== null) meant.push({ cost: costOf(synonymEdits), index, places: index.terms.placesOf(term) });
  }
  if (stem !== null) meant.push({ cost: costOf(stemEdits), index: words, places: words.placesOfStem(stem) });
  pace.units += unitsPerMeantTerm * meant.length;
  return meant;
}

function* scored(fields: readonly FieldMatch[], live: Bitmap, scratch: Scratch): Steps<Found> {
  const [only] = fields;
  if (fields.length > 1 || (only !== undefined && only.weight !== 1)) {
    return yield* scoredByWeight(fields, live, scratch);
  }
  const count = only === undefined ? 0 : yield* addField(only, live, scratch);
  const { hits, scores } = scratch;
  return { count, touched: hits, touchedCount: count, scoreOf: (doc) => scoreOf(scores[doc] ?? 0) };
}

/** Adds up what each field gives to a doc, in the order of the fields: the sum of numbers depends on their order. */
function* scoredByWeight(fields: readonly FieldMatch[], live: Bitmap, scratch: Scratch): Steps<Found> {
  const { hits, scores } = scratch;
  const { totals, docs } = scratch.sums();
  const known = new Bitmap(hits.length);
  let count = 0;
  for (const field of fields) {
    const found = yield* addField(field, live, scratch);
    for (let at = 0; at < found; at += 1) {
      const doc = hits[at] ?? 0;
      totals[doc] = (totals[doc] ?? 0) + field.weight * scoreOf(scores[doc] ?? 0);
      if (known.has(doc)) continue;
      known.add(doc);
      docs[count] = doc;
      count += 1;
    }
    scratch.clearScores(hits, found);
    pace.units += found;
    if (pace.isOver()) yield;
  }
  hits.set(docs.subarray(0, count));
  return { count, touched: docs, touchedCount: count, scoreOf: (doc) => totals[doc] ?? 0 };
}

/** Puts the docs in which a word matches into `scratch.hits`, and their packed scores into `scratch.scores`. @returns how many */
function* addField({ words }: FieldMatch, live: Bitmap, scratch: Scratch): Steps<number> {
  const hits: HitCount = { count: 0 };
  for (const [at, { terms }] of words.entries()) {
    // The cheapest terms come first, so the first term that a doc has counts.
    for (const matching of terms) {
      for (let from = 0; from < matching.places.length; ) {
        from = addDocs(matching, from, at + 1, hits, live, scratch);
        if (pace.isOver()) yield;
      }
    }
  }
  return hits.count;
}

interface HitCount {
  count: number;
}

/** The docs of one term at a time. */
const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** Adds the docs of terms from one of them on. @param ordinal number of the word @returns the term from which to go on */
function addDocs(
  { cost, index: { postings }, places }: MatchingTerms,
  from: number,
  ordinal: number,
  found: HitCount,
  live: Bitmap,
  { hits, scores, stamps }: Scratch,
): number {
  const weight = wordWeight - cost;
  let { count } = found;
  let at = from;
  while (at < places.length && pace.units < pace.unitsPerLook) {
    postings.show(places[at] ?? 0, run);
    const { docs, end } = run;
    for (let next = run.from; next < end; next += 1) {
      const doc = docs[next] ?? 0;
      if (stamps[doc] === ordinal || !live.has(doc)) continue;
      const before = scores[doc] ?? 0;
      if (before === 0) {
        hits[count] = doc;
        count += 1;
      }
      stamps[doc] = ordinal;
      scores[doc] = before + weight;
    }
    pace.units += unitsPerTerm + end - run.from;
    at += 1;
  }
  found.count = count;
  return at;
}

/**
 * Keeps the docs in which each word matches, in whichever field. A word that a field leaves out, as its stop word, need not
 * match: the docs that have it there cannot be told from the others.
 */
function* withEachWord(
  fields: readonly FieldMatch[],
  count: number,
  found: Found,
  scratch: Scratch,
): Steps<Found> {
  const { hits } = scratch;
  let left = hits.slice(0, found.count);
  const touched = found.touched === hits ? left : found.touched;
  for (let source = 0; source < count && left.length > 0; source += 1) {
    const ofFields = fields.map(({ words }) => words.find(({ sources }) => sources.includes(source)));
    if (ofFields.includes(undefined)) continue;
    const having = new Bitmap(hits.length);
    for (const {
      index: { postings },
      places,
    } of ofFields.flatMap((word) => word?.terms ?? [])) {
      for (const place of places) {
        postings.show(place, run);
        having.addAll(run.docs.subarray(run.from, run.end));
        pace.units += unitsPerTerm + run.end - run.from;
        if (pace.isOver()) yield;
      }
    }
    left = left.filter((doc) => having.has(doc));
    pace.units += left.length;
    if (pace.isOver()) yield;
  }
  hits.set(left);
  return { ...found, count: left.length, touched };
}
