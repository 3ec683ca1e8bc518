/**
 * What waits in a partition, as its commits store it for the next owner: rebuilds that invalidations ask for, and deferred
 * outputs. Those were not built with the batch that should have: they wait for a schema in JavaScript, for a lookup index, or for
 * a turn of their tenant because the batch had no more time.
 */
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

export type DeferredFor = 'code' | 'index' | 'time';

/** An output that waits. */
export interface DeferredState {
  readonly reason: DeferredFor;
  /** Reads with a version wait for it: a write caused it, not a change of configuration. */
  readonly isAwaited: boolean;
  /** First and last entry of the stream that may ask for it. */
  readonly first: number;
  readonly last: number;
  /** The entity whose change asks for it; null where it is not known. */
  readonly cause: EntityRef | null;
}

type PackedDeferred = [
  reason: DeferredFor,
  isAwaited: boolean,
  first: number,
  last: number,
  sourceId?: string,
  originId?: string,
];

/** By field of `keys.deferred`. @throws StoreUnavailableError */
export async function readDeferred(store: Store, tag: string): Promise<Map<string, DeferredState>> {
  const stored = await answerOf(store.client.hgetallBuffer(keys.deferred(tag)));
  return new Map(Object.entries(stored).map(([field, packed]) => [field, decodeDeferred(packed)]));
}

function decodeDeferred(packed: Buffer): DeferredState {
  // Earlier versions noted here what was to be tried again, without a value.
  if (packed.length === 0) return { reason: 'code', isAwaited: false, first: 0, last: 0, cause: null };
  const [reason, isAwaited, first, last, sourceId, originId] = unpack<PackedDeferred>(packed);
  const cause = sourceId === undefined || originId === undefined ? null : { sourceId, originId };
  return { reason, isAwaited, first, last, cause };
}

export function encodeDeferred({ reason, isAwaited, first, last, cause }: DeferredState): Buffer {
  const packed: PackedDeferred = [reason, isAwaited, first, last];
  if (cause !== null) packed.push(cause.sourceId, cause.originId);
  return pack(packed);
}
