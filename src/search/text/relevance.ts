/**
 * The formulas of `_score`: BM25F over the searched fields, with statistics of the whole index
 * (docs/guide/ranking.md). Each of them is computed in one order, so that the same numbers give the same bits everywhere.
 */

/** How far the length of a text counts, 0 to 1. */
const lengthShare = 0.6;
/** How soon further occurrences of a word add little. */
const saturation = 1;
/** What an item counts in which a word matches less closely than in others. */
export const laterShare = 0.1;

/**
 * Factors are whole numbers of twentieths, so the sum over the terms of a field is exact in whatever order they are added.
 */
export const factorUnit = 20;

/** How much the terms of a tier count that are spelt like the word, by the number of edits, in twentieths. */
export const wholeFactors = [20, 12, 6] as const;
/** As `wholeFactors`, of terms that only begin like the word. */
export const beginningFactors = [10, 6, 3] as const;
export const synonymFactor = 15;
export const stemFactor = 10;

/** Tiers of the terms that match a word: itself and what it means, one edit, two edits. */
export const tierCount = 3;

/** @param items of the index @param matching items that have the word */
export function idf(items: number, matching: number): number {
  return Math.log(1 + (items - matching + 0.5) / (matching + 0.5));
}

/** How often terms stand in a text for its length. @param length words of the text, relative to the average of the field */
export function weightedFrequency(weight: number, factors: number, length: number): number {
  return (weight * (factors / factorUnit)) / (1 - lengthShare + lengthShare * length);
}

/** What a word adds to the score of an item. @param x sum of `weightedFrequency` over the fields */
export function wordScore(wordIdf: number, x: number): number {
  return (wordIdf * x * (saturation + 1)) / (x + saturation);
}

/** The share of the score that is left by the number of words that match closely. @param asked words of the search, at least 1 */
export function coordination(matching: number, asked: number): number {
  return (Math.max(matching, 0.5) / asked) ** Math.min(1, 4 / asked ** 2);
}
