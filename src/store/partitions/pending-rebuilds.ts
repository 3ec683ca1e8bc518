/** The rebuilds that wait in a partition, as its commits store them for the next owner. */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** What asks for a rebuild. */
export interface PendingRebuild {
  /** First and last invalidation. */
  readonly first: number;
  readonly last: number;
  /** The entity whose change asks for it; null where it is not known. */
  readonly cause: EntityRef | null;
}

type PackedPending = [first: number, last: number, sourceId?: string, originId?: string];

/** Rebuilds that a former owner left pending, by member. @throws StoreUnavailableError */
export async function readPendingRebuilds(store: Store, tag: string): Promise<Map<string, PendingRebuild>> {
  const stored = await answerOf(store.client.hgetallBuffer(keys.pendingRebuilds(tag)));
  return new Map(Object.entries(stored).map(([member, packed]) => [member, decodePending(packed)]));
}

function decodePending(stored: Buffer): PendingRebuild {
  const [first, last, sourceId, originId] = unpack<PackedPending>(stored);
  const cause = sourceId === undefined || originId === undefined ? null : { sourceId, originId };
  return { first, last, cause };
}

/** Value of a field of `keys.pendingRebuilds`. */
export function encodePendingRebuild({ first, last, cause }: PendingRebuild): Buffer {
  const packed: PackedPending =
    cause === null ? [first, last] : [first, last, cause.sourceId, cause.originId];
  return pack(packed);
}
