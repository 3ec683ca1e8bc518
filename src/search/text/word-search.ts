import type { Bitmap } from '../bitmap.ts';
import { pace, type Steps } from '../pace.ts';
import type { Scratch } from '../shard/scratch.ts';
import { wordWeight } from './score.ts';
import type { TextIndex } from './text-index.ts';
import { allowedDistance, wordsOf } from './words.ts';

/**
 * Finds the docs in which any word of the query is near any word of the field, and scores them. The docs stand in
 * `scratch.hits` and their packed scores in `scratch.scores`. The caller must clear the scores.
 * @returns how many docs were found
 */
export function* runSearch(
  index: TextIndex,
  search: { readonly value: string; readonly literal: boolean },
  live: Bitmap,
  scratch: Scratch,
): Steps<number> {
  let found = 0;
  for (const [at, word] of wordsOf(search.value).entries()) {
    const terms = yield* index.expand(word, search.literal ? 0 : allowedDistance(word));
    // The nearest terms come first, so the first term that a doc has counts.
    for (const { docs, distance } of terms) {
      found = addDocs(docs, wordWeight - distance, at + 1, found, live, scratch);
      pace.units += docs.length;
      if (pace.isOver()) yield;
    }
  }
  return found;
}

function addDocs(
  docs: readonly number[],
  weight: number,
  ordinal: number,
  foundBefore: number,
  live: Bitmap,
  { hits, scores, stamps }: Scratch,
): number {
  let found = foundBefore;
  for (let at = 0; at < docs.length; at += 1) {
    const doc = docs[at] ?? 0;
    if (stamps[doc] === ordinal || !live.has(doc)) continue;
    const before = scores[doc] ?? 0;
    if (before === 0) {
      hits[found] = doc;
      found += 1;
    }
    stamps[doc] = ordinal;
    scores[doc] = before + weight;
  }
  return found;
}
