/**
 * Pages that a change takes out of the cache are computed anew at once when they are asked for, those of a burst of changes
 * together: one read of Redis instead of one for each reader who comes upon such a page. A page that nobody asked for since
 * it was computed waits for a reader, so there are never more computations than requests.
 */
import type { AnswerCache, AnswerKey } from './answer-cache.ts';

/** In one turn of the event loop: requests wait behind them. Of more, each waits for a reader. */
const atOnceMax = 64;

/** @param compute the answer to a query of a delivery, which it puts into the cache */
export function renewPages(cache: AnswerCache, compute: (key: AnswerKey) => Promise<unknown>): void {
  let lost: AnswerKey[] = [];
  cache.onLoss = (key) => {
    if (key.kind !== 'delivery' || lost.length === atOnceMax) return;
    lost.push(key);
    if (lost.length > 1) return;
    // Behind all changes that were heard of together: what is begun between two of them may have to be done again.
    process.nextTick(() => {
      const pages = lost;
      lost = [];
      for (const page of pages) compute(page).catch(() => {});
    });
  };
}
