/**
 * Scores of a few items whose statistics are not known yet. A shard gives what depends on its items alone: whole numbers. Whoever
 * has the statistics of all shards computes the score from them, in the same order as `word-search.ts` does.
 */
import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { Scratch } from '../shard/scratch.ts';
import type { ScoreInputs } from '../shard-answer.ts';
import type { TermGroup, Tiers, WordSearch } from './matching-terms.ts';
import { type DocRun, docOf, unitsPerTerm } from './postings.ts';
import { coordination, idf, laterShare, tierCount, weightedFrequency, wordScore } from './relevance.ts';

/** The postings of one term at a time. */
const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** True when the terms of the words have at most so many postings. @param isLiteral only without typos */
export function* hasFewPostings(
  { words }: WordSearch,
  postingsMax: number,
  isLiteral: boolean,
): Steps<boolean> {
  let left = postingsMax;
  for (const word of words) {
    left -= postingsIn(isLiteral ? yield* word.firstTiers() : yield* word.tiers(), left);
    if (left < 0) return false;
  }
  return true;
}

/** Stops counting after `enough`. */
function postingsIn(ofFields: readonly Tiers[], enough: number): number {
  let count = 0;
  for (const { index, termIds } of ofFields.flat(2)) {
    for (const termId of termIds) {
      index.postings.show(termId, run);
      count += run.end - run.from;
      workBudget.units += unitsPerTerm;
      if (count > enough) return count;
    }
  }
  return count;
}

/**
 * What the first `count` docs of a list have of the words, in the order of the list.
 * @param docs few, and not `scratch.search().docs`
 */
export function* frequenciesIn(
  { words, fields }: WordSearch,
  docs: Int32Array,
  count: number,
  scratch: Scratch,
): Steps<number[][]> {
  const perDoc = words.length * fields.length * tierCount;
  const frequencies = Array.from({ length: count }, () => new Array<number>(perDoc).fill(0));
  // The place of each doc. A doc that is not in the list has any number here.
  const places = scratch.search().docs;
  for (let place = 0; place < count; place += 1) places[docs[place] ?? 0] = place;
  const ofDoc = (doc: number) => {
    const place = places[doc] ?? 0;
    return docs[place] === doc ? frequencies[place] : undefined;
  };
  let at = 0;
  for (const word of words) {
    for (const tiers of yield* word.tiers()) {
      for (let tier = 0; tier < tierCount; tier += 1) {
        for (const group of tiers[tier] ?? []) addGroup(group, at + tier, ofDoc);
      }
      at += tierCount;
    }
    if (workBudget.isOver()) yield;
  }
  return frequencies;
}

/** Adds how often the terms occur. @param at place among the frequencies of a doc */
function addGroup(
  { index: { postings }, termIds, factor }: TermGroup,
  at: number,
  ofDoc: (doc: number) => number[] | undefined,
): void {
  for (const termId of termIds) {
    postings.show(termId, run);
    for (let next = run.from; next < run.end; next += 1) {
      const posting = run.docs[next] ?? 0;
      const frequencies = ofDoc(docOf(posting));
      if (frequencies === undefined) continue;
      frequencies[at] = (frequencies[at] ?? 0) + factor * postings.frequency(termId, posting);
    }
    workBudget.units += unitsPerTerm + run.end - run.from;
  }
}

/** The words of a doc in each field. */
export function lengthsOf({ fields }: WordSearch, doc: number): number[] {
  return fields.map(({ text }) => text?.counts.byDoc[doc] ?? 0);
}

/** Computes scores by the statistics of a search. */
export class Scorer {
  readonly #weights: readonly number[];
  readonly #averages: readonly number[];
  readonly #words: readonly { readonly tier: number; readonly idf: number }[];
  readonly #shares: readonly number[];

  constructor({ fields, stats }: CheckedSearch) {
    assert(stats !== null, 'scores need statistics');
    this.#weights = fields.map(({ weight }) => weight);
    this.#averages = stats.fields.map(({ words, items }) => (items === 0 ? 0 : words / items));
    this.#words = stats.words.map(({ tier, items }) => ({ tier, idf: idf(stats.items, items) }));
    const asked = stats.words.length;
    this.#shares = Array.from({ length: asked + 1 }, (_, matching) => coordination(matching, asked));
  }

  /** The `_score` of an item. */
  score({ frequencies, lengths, boosts }: ScoreInputs): number {
    let [total, matching, from] = [0, 0, 0];
    for (const { tier, idf: wordIdf } of this.#words) {
      const laterTier = Math.min(tier + 1, tierCount);
      // The weight of a field may be so small that x is 0 for a word that matches.
      const isClose = this.#matches(frequencies, from, laterTier);
      const x = isClose
        ? this.#x(frequencies, lengths, from, 0, laterTier)
        : laterShare * this.#x(frequencies, lengths, from, laterTier, tierCount);
      total += wordScore(wordIdf, x);
      if (isClose) matching += 1;
      from += this.#weights.length * tierCount;
    }
    if (total === 0) return 0;
    return boosts.reduce((score, boost) => score * boost, (this.#shares[matching] ?? 0) * total);
  }

  /** True when a term of the word occurs before some tier. @param from where its frequencies are */
  #matches(frequencies: readonly number[], from: number, endTier: number): boolean {
    for (let field = 0; field < this.#weights.length; field += 1) {
      for (let tier = 0; tier < endTier; tier += 1) {
        if ((frequencies[from + field * tierCount + tier] ?? 0) > 0) return true;
      }
    }
    return false;
  }

  /** Sum of a word over the fields. @param from where its frequencies are */
  #x(
    frequencies: readonly number[],
    lengths: readonly number[],
    from: number,
    firstTier: number,
    endTier: number,
  ): number {
    let x = 0;
    for (const [field, weight] of this.#weights.entries()) {
      let sum = 0;
      for (let tier = firstTier; tier < endTier; tier += 1) {
        sum += frequencies[from + field * tierCount + tier] ?? 0;
      }
      if (sum === 0) continue;
      const average = this.#averages[field] ?? 0;
      const length = average === 0 ? 1 : (lengths[field] ?? 0) / average;
      x += weightedFrequency(weight, sum, length);
    }
    return x;
  }
}
