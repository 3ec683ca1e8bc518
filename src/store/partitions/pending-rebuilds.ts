/** The rebuilds that wait in a partition, as its commits store them for the next owner. */
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/errors.ts';
import type { Store } from '../store.ts';

/** Rebuilds that a former owner left pending: member -> first and last invalidation. @throws StoreUnavailableError */
export async function readPendingRebuilds(
  store: Store,
  tag: string,
): Promise<Map<string, readonly [number, number]>> {
  const stored = await answerOf(store.client.hgetallBuffer(keys.pendingRebuilds(tag)));
  return new Map(Object.entries(stored).map(([member, range]) => [member, unpack<[number, number]>(range)]));
}

/** Value of a field of `keys.pendingRebuilds`. */
export function encodePendingRebuild(first: number, last: number): Buffer {
  return pack([first, last]);
}
