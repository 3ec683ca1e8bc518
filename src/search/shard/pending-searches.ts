/**
 * Keeps searches, with the terms that match their words, between the requests for statistics and for items (`unscored.ts`).
 * Finding the terms is half of the work of a search with typos. Valid until an item changes.
 */
import { pendingSearchesMax, pendingSearchTermsMax, pendingSearchWordsMax } from '../../contract/limits.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { WordSearch } from '../text/matching-terms.ts';

export class PendingSearches {
  /** Oldest first. */
  readonly #searches = new Map<string, WordSearch>();

  add(words: WordSearch): void {
    // Even a word that no field has takes memory for each field.
    if (words.words.length * words.fields.length > pendingSearchWordsMax) return;
    if (words.termCount > pendingSearchTermsMax) return;
    this.#searches.set(keyOf(words.search), words);
    for (const key of this.#searches.keys()) {
      if (this.#searches.size <= pendingSearchesMax) return;
      this.#searches.delete(key);
    }
  }

  /** Removes and returns a search; null if it is not here. */
  take(search: CheckedSearch): WordSearch | null {
    if (search.stats === null || this.#searches.size === 0) return null;
    const key = keyOf(search);
    const words = this.#searches.get(key);
    if (words === undefined) return null;
    this.#searches.delete(key);
    return words.withStats(search);
  }

  clear(): void {
    // A map that is empty makes a new table of itself all the same.
    if (this.#searches.size > 0) this.#searches.clear();
  }
}

/** Contains everything that determines which terms match. */
function keyOf({ fields, value, keep, literal, prefix, fuzziness, operators }: CheckedSearch): string {
  return JSON.stringify([fields, value, keep, literal, prefix, fuzziness, operators]);
}
