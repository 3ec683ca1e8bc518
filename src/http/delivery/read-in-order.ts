/** Reads of views that no later answer of this front is older than (docs/design/reads.md). */
import { announcementWaitMs } from '../../contract/limits.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import { type HighWaterMark, readHighWaterMark } from '../../store/visibility/high-water-mark.ts';
import type { Services } from '../services.ts';
import type { LoadedViews } from './view-loading.ts';

/** What was read. */
export interface FromStore {
  /** The hash fields that were read. */
  places(): readonly HashField[];
  /** Views that others refer to, for `KeptViews`. */
  readonly views: Pick<LoadedViews, 'referred'>;
}

/**
 * What was just read can show what the caches have not heard of. It is held back until the older answers are out of them: a
 * client that has seen the new one must not get an older one afterwards.
 * @param read given what to call for every read of the store, in the same turn of the event loop, or when the read is done
 * @throws StoreUnavailableError; what `read` throws
 */
export async function readInOrder<T extends FromStore>(
  services: Pick<Services, 'store' | 'cache' | 'rowViews' | 'keptViews' | 'progress'>,
  read: (onRead: () => void) => Promise<T>,
): Promise<T> {
  if (!services.cache.isOn) return await read(nobody);
  const { keptViews } = services;
  const beganAt = keptViews.begin();
  try {
    const found = await readHeard(services, read);
    // Not before: another answer could show them to a client that then gets an older one from the cache.
    keptViews.keep(beganAt, found.views.referred);
    return found;
  } finally {
    keptViews.end();
  }
}

/** Reads, and waits until what was read has been announced to this front, or else drops all that it has kept. */
async function readHeard<T extends FromStore>(
  {
    store,
    cache,
    rowViews,
    keptViews,
    progress,
  }: Pick<Services, 'store' | 'cache' | 'rowViews' | 'keptViews' | 'progress'>,
  read: (onRead: () => void) => Promise<T>,
): Promise<T> {
  let caughtUp: Promise<HighWaterMark | null> | null = null;
  const found = await read(() => {
    caughtUp = progress.catchUp();
  });
  const highWaterMark = (await caughtUp) ?? (await readHighWaterMark(store, found.places()));
  if (!(await progress.waitUntilHeard(highWaterMark, announcementWaitMs))) {
    cache.empty();
    rowViews.empty();
    keptViews.empty();
  }
  return found;
}

const nobody = () => {};
