/** Reads of views such that no later answer of this front is older (docs/design/reads.md). */
import { announcementWaitMs } from '../../contract/limits.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import { type HighWaterMark, readHighWaterMark } from '../../store/visibility/version.ts';
import type { Services } from '../services.ts';
import type { LoadedViews, ViewSources } from './view-loading.ts';

/** Everything that an answer was built from. */
export interface FromStore {
  /** The hash fields that were read. */
  places(): readonly HashField[];
  readonly views: Pick<LoadedViews, 'referenced' | 'cachedSubjects'>;
}

/** Builds an answer from these sources. */
type Read<T> = (sources: ViewSources) => Promise<T>;

type ReadServices = Pick<
  Services,
  'store' | 'largeAnswers' | 'cache' | 'rowViews' | 'referencedViews' | 'progress'
>;

/**
 * An answer that was just read can show changes that this front has not received yet. It is held back until the older answers
 * are evicted: a client that has seen the new one must not get an older one afterwards.
 * @throws StoreUnavailableError; what `read` throws
 */
export async function readInOrder<T extends FromStore>(services: ReadServices, read: Read<T>): Promise<T> {
  const { store, largeAnswers, cache, referencedViews } = services;
  if (!cache.isOn) return await read({ store, largeAnswers, referencedViews: null, onRead: ignore });
  const beganAt = referencedViews.begin();
  try {
    const found = await readAndWait(services, referencedViews, read);
    // A view that was read can be newer than a cached one that it references, although one commit changed both.
    const { cachedSubjects } = found.views;
    if (cachedSubjects.length > 0 && referencedViews.hasChangedSince(beganAt, cachedSubjects))
      return await readAndWait(services, null, read);
    // Not earlier: otherwise another answer could show them to a client that then gets an older answer from the cache.
    referencedViews.add(beganAt, found.views.referenced);
    return found;
  } finally {
    referencedViews.end();
  }
}

/**
 * Reads, and waits until this front has received the changes that the read can show. On a timeout it empties all caches
 * instead.
 */
async function readAndWait<T extends FromStore>(
  { store, largeAnswers, cache, rowViews, referencedViews, progress }: ReadServices,
  cachedViews: ViewSources['referencedViews'],
  read: Read<T>,
): Promise<T> {
  let caughtUp: Promise<HighWaterMark | null> | null = null;
  const onRead = () => {
    caughtUp = progress.catchUp();
  };
  const found = await read({ store, largeAnswers, referencedViews: cachedViews, onRead });
  const highWaterMark = (await caughtUp) ?? (await readHighWaterMark(store, found.places()));
  if (!(await progress.waitUntilNotified(highWaterMark, announcementWaitMs))) {
    cache.empty();
    rowViews.empty();
    referencedViews.empty();
  }
  return found;
}

const ignore = () => {};
