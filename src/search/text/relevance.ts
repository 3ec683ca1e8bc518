/**
 * The formulas of `_score`: BM25F over the searched fields, with statistics of the whole index (docs/guide/ranking.md).
 * Operations are always in the same order, so that equal numbers give identical bits everywhere: in `word-search.ts` for the
 * docs of a shard, and in `Scorer` for a few items that a front knows.
 */
import { assert } from '../../lib/assert.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldStats } from '../search-stats.ts';
import type { ScoreInputs } from '../shard-answer.ts';

/** The `_score` of a doc. */
export type DocScore = (doc: number) => number;

export const noScore: DocScore = () => 0;

/** Influence of the length of a text, 0 to 1. */
const lengthShare = 0.6;
/** How quickly further occurrences of a word add little. */
const saturation = 1;
/** Weight of an item that matches a word less closely than others do. */
const laterShare = 0.1;

/** Factors are integers in twentieths, so that the sum over the terms of a field is exact in any order. */
const factorUnit = 20;

/** Factors of terms by their number of edits from the word, in twentieths. */
export const wholeWordFactors = [20, 12, 6] as const;
/** As `wholeWordFactors`, for terms of which only a prefix matches. */
export const prefixFactors = [10, 6, 3] as const;
export const synonymFactor = 15;
export const stemFactor = 10;

/** Tiers of the terms that match a word: exact and equivalent terms, one edit, two edits. */
export const tierCount = 3;

/**
 * @param items in the index
 * @param matching items with the word
 */
export function idf(items: number, matching: number): number {
  return Math.log(1 + (items - matching + 0.5) / (matching + 0.5));
}

/** Average number of words per item of each field; 0 if no item has any. */
export function averageLengths(fields: readonly FieldStats[]): number[] {
  return fields.map(({ words, items }) => (items === 0 ? 0 : words / items));
}

/**
 * Frequency of terms relative to the text length.
 * @param length words in the text
 * @param average from `averageLengths`
 */
export function weightedFrequency(weight: number, factors: number, length: number, average: number): number {
  const relative = average === 0 ? 1 : length / average;
  return (weight * (factors / factorUnit)) / (1 - lengthShare + lengthShare * relative);
}

/**
 * The score of a word in an item.
 * @param x sum of `weightedFrequency` over the fields
 * @param isClose the item matches in the tier of the word
 */
export function wordScore(wordIdf: number, x: number, isClose: boolean): number {
  const counted = isClose ? x : laterShare * x;
  return (wordIdf * counted * (saturation + 1)) / (counted + saturation);
}

/** Score multipliers by the number of words that match closely. @param asked words of the search, at least 1 */
export function coordinations(asked: number): number[] {
  return Array.from(
    { length: asked + 1 },
    (_, matching) => (Math.max(matching, 0.5) / asked) ** Math.min(1, 4 / asked ** 2),
  );
}

/** Computes the scores of items from the inputs of the shards and the statistics of all shards. */
export class Scorer {
  readonly #weights: readonly number[];
  readonly #averages: readonly number[];
  readonly #words: readonly { readonly tier: number; readonly idf: number }[];
  readonly #shares: readonly number[];

  constructor({ fields, stats }: CheckedSearch) {
    assert(stats !== null, 'scores need statistics');
    this.#weights = fields.map(({ weight }) => weight);
    this.#averages = averageLengths(stats.fields);
    this.#words = stats.words.map(({ tier, items }) => ({ tier, idf: idf(stats.items, items) }));
    this.#shares = coordinations(stats.words.length);
  }

  /** The `_score` of an item. */
  score({ frequencies, lengths, boosts }: ScoreInputs): number {
    let [total, matching, from] = [0, 0, 0];
    for (const { tier, idf: wordIdf } of this.#words) {
      const laterTier = Math.min(tier + 1, tierCount);
      // `x` may be 0 for a matching word, if the weight of a field is very small.
      const isClose = this.#matches(frequencies, from, laterTier);
      const x = isClose
        ? this.#x(frequencies, lengths, from, 0, laterTier)
        : this.#x(frequencies, lengths, from, laterTier, tierCount);
      total += wordScore(wordIdf, x, isClose);
      if (isClose) matching += 1;
      from += this.#weights.length * tierCount;
    }
    if (total === 0) return 0;
    return boosts.reduce((score, boost) => score * boost, (this.#shares[matching] ?? 0) * total);
  }

  /** True if a term of the word occurs in a tier below `endTier`. @param from index of its first frequency */
  #matches(frequencies: readonly number[], from: number, endTier: number): boolean {
    for (let field = 0; field < this.#weights.length; field += 1) {
      for (let tier = 0; tier < endTier; tier += 1) {
        if ((frequencies[from + field * tierCount + tier] ?? 0) > 0) return true;
      }
    }
    return false;
  }

  /** Sum over the fields for a word. @param from index of its first frequency */
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
      x += weightedFrequency(weight, sum, lengths[field] ?? 0, this.#averages[field] ?? 0);
    }
    return x;
  }
}
