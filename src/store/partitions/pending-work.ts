/**
 * Pending work of a partition, which commits store for the next owner: rebuilds requested by invalidations, and deferred
 * outputs. A batch defers an output that waits for JavaScript, for a lookup index, or for its tenant's next turn because the
 * time of the batch was up.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';

/** A rebuild, and the invalidations that request it. */
export interface PendingRebuild {
  /** First and last invalidation. */
  readonly first: number;
  readonly last: number;
  /** The entity whose change caused it; null if unknown. */
  readonly cause: EntityRef | null;
}

type PackedPending = [first: number, last: number, sourceId?: string, originId?: string];

/** Rebuilds that the previous owner left pending, by member. @throws StoreUnavailableError */
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

/** A deferred output. */
export interface DeferredState {
  readonly reason: DeferredFor;
  /** Reads with a version wait for it: a write caused it, not a change of configuration. */
  readonly isAwaited: boolean;
  /** First and last stream entry that may have caused it. */
  readonly first: number;
  readonly last: number;
  /** The entity whose change caused it; null if unknown. */
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
  // Earlier versions stored outputs to retry here, without a value.
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
