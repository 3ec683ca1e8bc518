/** Reads of views such that no later answer of this front is older (docs/design/reads.md). */
import { announcementWaitMs } from '../../contract/limits.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import { type HighWaterMark, readHighWaterMark } from '../../store/visibility/version.ts';
import type { Services } from '../services.ts';
import type { ViewSources } from './view-loading.ts';

/** Everything that an answer was built from. */
export interface FromStore {
  /** The hash fields that were read. */
  places(): readonly HashField[];
}

/** The services that a read needs. */
export type ReadServices = Pick<Services, 'store' | 'largeAnswers' | 'cache' | 'rowViews' | 'progress'>;

/**
 * An answer that was just read can show changes that this front has not received yet. It is held back until the older answers
 * are evicted: a client that has seen the new one must not get an older one afterwards. On a timeout all caches are emptied
 * instead.
 * @param read builds the answer from the sources
 * @throws StoreUnavailableError; what `read` throws
 */
export async function readInOrder<T extends FromStore>(
  { store, largeAnswers, cache, rowViews, progress }: ReadServices,
  read: (sources: ViewSources) => Promise<T>,
): Promise<T> {
  if (!cache.isOn) return await read({ store, largeAnswers, onRead: ignore });
  let caughtUp: Promise<HighWaterMark | null> | null = null;
  const onRead = () => {
    caughtUp = progress.catchUp();
  };
  const found = await read({ store, largeAnswers, onRead });
  const highWaterMark = (await caughtUp) ?? (await readHighWaterMark(store, found.places()));
  if (!(await progress.waitUntilNotified(highWaterMark, announcementWaitMs))) {
    cache.empty();
    rowViews.empty();
  }
  return found;
}

const ignore = () => {};
