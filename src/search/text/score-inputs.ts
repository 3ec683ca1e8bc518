/**
 * Inputs for the scores of a few items whose statistics are not known yet. A shard returns integers that depend only on its
 * items. The front has the statistics of all shards, and a `Scorer`.
 */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Scratch } from '../scratch.ts';
import type { SearchedWord, TermGroup, Tiers, WordSearch } from './matching-terms.ts';
import { type DocRun, docOf, unitsPerTerm } from './postings.ts';
import { tierCount } from './relevance.ts';

/** Reused for the postings of one term at a time. */
const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };

/** True if the terms of the words have at most this many postings. */
export function hasFewPostings(search: WordSearch, postingsMax: number): Steps<boolean> {
  return areFew(search, postingsMax, (word) => word.tiers());
}

/** Like `hasFewPostings`, but only for terms without typos, which are found faster. */
export function hasFewPostingsWithoutTypos(search: WordSearch, postingsMax: number): Steps<boolean> {
  return areFew(search, postingsMax, (word) => word.firstTiers());
}

function* areFew(
  { words }: WordSearch,
  postingsMax: number,
  tiersOf: (word: SearchedWord) => Steps<readonly Tiers[]>,
): Steps<boolean> {
  let left = postingsMax;
  for (const word of words) {
    left -= postingsIn(yield* tiersOf(word), left);
    if (left < 0) return false;
  }
  return true;
}

/** Number of postings; stops counting above `enough`. */
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
 * The frequencies of the words in the first `count` docs of a list, in the order of the list.
 * @param docs few, and not `scratch.search().ofWord`
 */
export function* frequenciesIn(
  { words, fields }: WordSearch,
  docs: Int32Array,
  count: number,
  scratch: Scratch,
): Steps<number[][]> {
  const perDoc = words.length * fields.length * tierCount;
  const frequencies = Array.from({ length: count }, () => new Array<number>(perDoc).fill(0));
  // The position of each doc. For docs that are not in the list, the value is arbitrary.
  const positions = scratch.search().ofWord;
  for (let position = 0; position < count; position += 1) positions[docs[position] ?? 0] = position;
  const ofDoc = (doc: number) => {
    const position = positions[doc] ?? 0;
    return docs[position] === doc ? frequencies[position] : undefined;
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

/** Adds the frequencies of the terms. @param at index in the frequencies of a doc */
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

/** Number of words of a doc in each field. */
export function lengthsOf({ fields }: WordSearch, doc: number): number[] {
  return fields.map(({ text }) => text?.counts.byDoc[doc] ?? 0);
}
