/** Reads of views that no later answer of this front is older than (docs/design/reads.md). */
import { announcementWaitMs } from '../../contract/limits.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import { type HighWaterMark, readHighWaterMark } from '../../store/visibility/version.ts';
import type { Services } from '../services.ts';
import type { LoadedViews, ViewSources } from './view-loading.ts';

/** Everything that a response was built from. */
export interface FromStore {
  /** The hash fields that were read. */
  places(): readonly HashField[];
  readonly views: Pick<LoadedViews, 'referenced' | 'cachedSubjects'>;
}

/** Makes an answer of views from these sources. */
type Read<T> = (sources: ViewSources) => Promise<T>;

type ReadServices = Pick<
  Services,
  'store' | 'largeAnswers' | 'cache' | 'rowViews' | 'referencedViews' | 'progress'
>;

/**
 * What was just read can show what the caches have not heard of. It is held back until the older answers are out of them: a
 * client that has seen the new one must not get an older one afterwards.
 * @throws StoreUnavailableError; what `read` throws
 */
export async function readInOrder<T extends FromStore>(services: ReadServices, read: Read<T>): Promise<T> {
  const { store, largeAnswers, cache, referencedViews } = services;
  if (!cache.isOn) return await read({ store, largeAnswers, referencedViews: null, onRead: nobody });
  const beganAt = referencedViews.begin();
  try {
    const found = await readAndWait(services, referencedViews, read);
    // A view that was read can be newer than a cached one that it refers to, though one commit changed both.
    const { cachedSubjects } = found.views;
    if (cachedSubjects.length > 0 && referencedViews.hasChangedSince(beganAt, cachedSubjects))
      return await readAndWait(services, null, read);
    // Not before: another answer could show them to a client that then gets an older one from the cache.
    referencedViews.add(beganAt, found.views.referenced);
    return found;
  } finally {
    referencedViews.end();
  }
}

/** Reads, and waits until what was read has been announced to this front, or else empties all its caches. */
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

const nobody = () => {};
