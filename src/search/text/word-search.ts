import type { Bitmap } from '../bitmap.ts';
import { chain, type Maybe, pace, repeat } from '../pace.ts';
import type { Scratch } from '../shard/scratch.ts';
import { wordWeight } from './score.ts';
import type { NearTerm, TextIndex } from './text-index.ts';
import { allowedDistance, wordsOf } from './words.ts';

/**
 * Finds the docs in which any word of the query is near any word of the field, and scores them.
 * Leaves the docs in `scratch.hits` and their packed scores in `scratch.scores`; the caller clears the scores.
 * @returns how many docs were found
 */
export function runSearch(
  index: TextIndex,
  search: { readonly value: string; readonly literal: boolean },
  live: Bitmap,
  scratch: Scratch,
): Maybe<number> {
  const words = wordsOf(search.value);
  let found = 0;
  // The nearest terms come first: the first that a doc has is the one that counts.
  const addTerms = (terms: readonly NearTerm[], ordinal: number): Maybe<void> =>
    repeat((place) => {
      const term = terms[place];
      if (term === undefined) return false;
      found = addDocs(term.docs, wordWeight - term.distance, ordinal, found, live, scratch);
      pace.units += term.docs.length;
      return place + 1 < terms.length;
    });
  const all = repeat((at) => {
    const word = words[at];
    if (word === undefined) return false;
    const expanded = index.expand(word, search.literal ? 0 : allowedDistance(word));
    const added = chain(expanded, (terms) => addTerms(terms, at + 1));
    return chain(added, () => at + 1 < words.length);
  });
  return chain(all, () => found);
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
