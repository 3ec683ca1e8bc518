/** The rebuilds that wait in a partition, as its commits store them for the next owner. */
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { storeError } from '../redis/errors.ts';
import type { Store } from '../store.ts';

/** Rebuilds that a former owner left pending: member -> first and last invalidation. @throws StoreUnavailableError */
export async function readPendingRebuilds(
  store: Store,
  tag: string,
): Promise<Map<string, readonly [number, number]>> {
  try {
    const stored = await store.client.hgetallBuffer(keys.pendingRebuilds(tag));
    return new Map(
      Object.entries(stored).map(([member, range]) => [member, unpack<[number, number]>(range)]),
    );
  } catch (error) {
    throw storeError(error);
  }
}

export function encodePendingRebuild(first: number, last: number): Buffer {
  return pack([first, last]);
}
