import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { Scratch, SearchScratch } from '../scratch.ts';
import { type FieldStats, noTier, type SearchStats, type WordStats } from '../search-stats.ts';
import type { FieldText } from './field-text.ts';
import type { SearchedField, SearchedItems, TermGroup, Tiers, WordSearch } from './matching-terms.ts';
import { type DocRun, docOf, unitsPerTerm } from './postings.ts';
import {
  averageLengths,
  coordinations,
  type DocScore,
  idf,
  noScore,
  tierCount,
  weightedFrequency,
  wordScore,
} from './relevance.ts';

/** The result of a search. The matching docs are the first `count` of `scratch.hits`. */
export interface Found {
  readonly count: number;
  /** The first `touchedCount` docs are marked in the scratch, which must be reset. They include all matching docs. */
  readonly touched: Int32Array;
  readonly touchedCount: number;
  readonly scoreOf: DocScore;
  /** The statistics used for the scores; null without a search. */
  readonly stats: SearchStats | null;
}

/** Statistics of a search over the local items. Those of several shards can be added. */
export function* statsOf(searched: WordSearch, scratch: Scratch): Steps<SearchStats> {
  const { fields, items } = searched;
  const words: WordStats[] = [];
  for (const word of searched.words) {
    const walk = new WordWalk(fields, items.live, scratch, words.length);
    // Other spellings are only searched if the word itself is not found.
    let { tier, count } = yield* firstTier(walk, yield* word.firstTiers(), 0, 1);
    if (tier === noTier) {
      ({ tier, count } = yield* firstTier(walk, yield* word.tiers(), 1, tierCount));
    }
    words.push({ tier, items: count });
    scratch.clear(scratch.hits, scratch.search().found);
  }
  return { items: items.count, fields: fields.map(fieldStats), words };
}

function fieldStats({ text }: SearchedField): FieldStats {
  return text === null ? { words: 0, items: 0 } : { words: text.counts.words, items: text.counts.docs };
}

/** Tries tiers until one has docs. */
function* firstTier(
  walk: WordWalk,
  tiers: readonly Tiers[],
  from: number,
  end: number,
): Steps<{ tier: number; count: number }> {
  for (let tier = from; tier < end; tier += 1) {
    yield* walk.add(tiers, tier, tier + 1);
    if (walk.count > 0) return { tier, count: walk.count };
  }
  return { tier: noTier, count: 0 };
}

/**
 * Finds the docs in which words of the search match words of the fields, and scores them: with the statistics in the search if
 * there are any, otherwise as if the local items were the whole index.
 */
export function* runSearch(searched: WordSearch, scratch: Scratch): Steps<Found> {
  const { search, fields, items, words } = searched;
  const run = new SearchRun(search, fields, items, scratch, words.length);
  for (const word of words) yield* run.add(yield* word.tiers(), word.isSearchedByAll);
  return yield* run.found();
}

/** The state of a search while it processes its words. */
class SearchRun {
  readonly #stats: {
    readonly items: number;
    readonly fields: readonly FieldStats[];
    readonly words: WordStats[];
  };
  readonly #lengths: readonly number[];
  readonly #buffers: SearchScratch;
  #wordsDone = 0;
  /** Number of words that an item must have. */
  #needed = 0;
  #lastIdf = 0;

  constructor(
    private readonly search: CheckedSearch,
    private readonly fields: readonly SearchedField[],
    private readonly items: SearchedItems,
    private readonly scratch: Scratch,
    private readonly wordCount: number,
  ) {
    const { stats } = search;
    const ofFields = fields.map((field, at) => stats?.fields[at] ?? fieldStats(field));
    this.#stats = { items: stats?.items ?? items.count, fields: ofFields, words: [] };
    this.#lengths = averageLengths(ofFields);
    this.#buffers = scratch.search();
  }

  /** Adds the matches of a word. @param isSearchedByAll no field ignores the word */
  *add(tiers: readonly Tiers[], isSearchedByAll: boolean): Steps<void> {
    const walk = new WordWalk(this.fields, this.items.live, this.scratch, this.#wordsDone, this.#lengths);
    const pinned = this.search.stats?.words[this.#wordsDone];
    let tier = pinned?.tier ?? noTier;
    let matching = pinned?.items ?? 0;
    if (this.search.stats === null) {
      ({ tier, count: matching } = yield* firstTier(walk, tiers, 0, tierCount));
    } else {
      // Items that have meanwhile moved to an earlier tier count as in the tier of the word.
      yield* walk.add(tiers, 0, Math.min(tier + 1, tierCount));
    }
    walk.beginLater();
    if (tier + 1 < tierCount) yield* walk.add(tiers, tier + 1, tierCount);
    this.#stats.words.push({ tier, items: matching });
    this.#lastIdf = idf(this.#stats.items, matching);
    this.#wordsDone += 1;
    if (isSearchedByAll) this.#needed += 1;
    if (!this.#isSingle) yield* this.#fold(walk, isSearchedByAll);
  }

  *found(): Steps<Found> {
    const { hits } = this.scratch;
    const stats = this.#stats;
    const scoreOf = this.#scoreOf();
    const touchedCount = this.#buffers.found;
    if (this.search.mode === 'any' || this.#isSingle || this.#needed === 0) {
      return { count: touchedCount, touched: hits, touchedCount, scoreOf, stats };
    }
    const all = hits.slice(0, touchedCount);
    const { notes } = this.#buffers;
    let count = 0;
    for (const [at, doc] of all.entries()) {
      if (neededIn(notes[at + 1] ?? 0) < this.#needed) continue;
      hits[count] = doc;
      count += 1;
    }
    workBudget.units += all.length;
    if (workBudget.isOver()) yield;
    return { count, touched: all, touchedCount, scoreOf, stats };
  }

  get #isSingle(): boolean {
    return this.wordCount === 1;
  }

  /** Adds the score of a word to its docs. */
  *#fold(walk: WordWalk, isNeeded: boolean): Steps<void> {
    for (let from = 0; from < walk.count; ) {
      from = this.#foldSome(walk, from, isNeeded);
      if (workBudget.isOver()) yield;
    }
  }

  #foldSome({ count, closeCount }: WordWalk, from: number, isNeeded: boolean): number {
    const { notes, totals, x, ofWord } = this.#buffers;
    const wordIdf = this.#lastIdf;
    const end = Math.min(count, from + workBudget.unitsPerClockCheck);
    const need = isNeeded ? neededNote : 0;
    for (let at = from; at < end; at += 1) {
      const place = ofWord[at] ?? 0;
      const isClose = at < closeCount;
      totals[place] = (totals[place] ?? 0) + wordScore(wordIdf, x[place] ?? 0, isClose);
      notes[place] = (notes[place] ?? 0) + need + (isClose ? 1 : 0);
    }
    workBudget.units += end - from;
    return end;
  }

  #scoreOf(): DocScore {
    const { x, totals, notes, stamps, places } = this.#buffers;
    if (this.wordCount === 0) return noScore;
    const shares = coordinations(this.wordCount);
    if (!this.#isSingle) {
      return (doc) => {
        const place = places[doc] ?? 0;
        return (shares[closeIn(notes[place] ?? 0)] ?? 0) * (totals[place] ?? 0);
      };
    }
    const wordIdf = this.#lastIdf;
    const [later = 0, close = 0] = shares;
    const closeStamp = closeStampOf(0);
    return (doc) => {
      const place = places[doc] ?? 0;
      const isClose = stamps[place] === closeStamp;
      return (isClose ? close : later) * wordScore(wordIdf, x[place] ?? 0, isClose);
    };
  }
}

/** A doc's note counts the required words it has, and in the lower bits the words that match it closely. */
const neededNote = 1 << 12;

function neededIn(note: number): number {
  return note >>> 12;
}

function closeIn(note: number): number {
  return note & (neededNote - 1);
}

/** The stamp of docs that match a word closely. Other docs that match it get the next one. */
function closeStampOf(word: number): number {
  return 2 * word + 1;
}

/** The postings of one term at a time. */
const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** Reads the postings of a word, collects each doc once, and sums up the frequencies of its terms. */
class WordWalk {
  count = 0;
  /** Number of docs that match in the tier of the word; they come first. */
  closeCount = 0;
  readonly #buffers: SearchScratch;
  #stamp: number;
  /** The stamp of docs that are already counted as close. */
  #closeStamp = -1;

  constructor(
    private readonly fields: readonly SearchedField[],
    private readonly live: Bitmap,
    private readonly scratch: Scratch,
    word: number,
    /** Average words per item of each field; absent: only collect docs. */
    private readonly lengths?: readonly number[],
  ) {
    this.#buffers = scratch.search();
    this.#stamp = closeStampOf(word);
  }

  /** From now on, only adds docs that have not matched yet. */
  beginLater(): void {
    this.closeCount = this.count;
    this.#closeStamp = this.#stamp;
    this.#stamp += 1;
  }

  /** Adds the docs of some tiers of each field. */
  *add(tiers: readonly Tiers[], from: number, end: number): Steps<void> {
    for (const [at, { weight, text }] of this.fields.entries()) {
      let hasTerms = false;
      for (let tier = from; tier < end; tier += 1) {
        for (const group of tiers[at]?.[tier] ?? []) {
          hasTerms = true;
          for (let next = 0; next < group.termIds.length; ) {
            next = this.#addTerms(group, next);
            if (workBudget.isOver()) yield;
          }
        }
      }
      if (hasTerms && text !== null && this.lengths !== undefined) {
        yield* this.#addField(text, weight, this.lengths[at] ?? 0);
      }
    }
  }

  /** @returns the term at which to continue */
  #addTerms({ index: { postings }, termIds, factor }: TermGroup, from: number): number {
    const buffers = this.#buffers;
    const { places, ofWord, stamps, notes, sums, x, totals } = buffers;
    const { live } = this;
    const { hits } = this.scratch;
    let { found } = buffers;
    const stamp = this.#stamp;
    const closeStamp = this.#closeStamp;
    let { count } = this;
    let at = from;
    while (at < termIds.length && workBudget.units < workBudget.unitsPerClockCheck) {
      const termId = termIds[at] ?? 0;
      postings.show(termId, run);
      const { docs: list, end } = run;
      for (let next = run.from; next < end; next += 1) {
        const posting = list[next] ?? 0;
        const doc = docOf(posting);
        let place = places[doc] ?? 0;
        if (place === 0) {
          if (!live.has(doc)) continue;
          hits[found] = doc;
          found += 1;
          place = found;
          places[doc] = place;
          totals[place] = 0;
          notes[place] = 0;
        } else {
          const known = stamps[place];
          if (known === stamp) {
            sums[place] = (sums[place] ?? 0) + factor * postings.frequency(termId, posting);
            continue;
          }
          if (known === closeStamp) continue;
        }
        stamps[place] = stamp;
        sums[place] = factor * postings.frequency(termId, posting);
        x[place] = 0;
        ofWord[count] = place;
        count += 1;
      }
      workBudget.units += unitsPerTerm + end - run.from;
      at += 1;
    }
    this.count = count;
    buffers.found = found;
    return at;
  }

  /** Adds the frequencies of a field's terms to each doc. */
  *#addField({ counts }: FieldText, weight: number, average: number): Steps<void> {
    const { ofWord, sums, x } = this.#buffers;
    const { hits } = this.scratch;
    const { count, closeCount } = this;
    const lengths = counts.byDoc;
    for (let from = closeCount; from < count; from += workBudget.unitsPerClockCheck) {
      const end = Math.min(count, from + workBudget.unitsPerClockCheck);
      for (let at = from; at < end; at += 1) {
        const place = ofWord[at] ?? 0;
        const sum = sums[place] ?? 0;
        if (sum === 0) continue;
        const length = lengths[hits[place - 1] ?? 0] ?? 0;
        x[place] = (x[place] ?? 0) + weightedFrequency(weight, sum, length, average);
        sums[place] = 0;
      }
      workBudget.units += end - from;
      if (workBudget.isOver()) yield;
    }
  }
}
