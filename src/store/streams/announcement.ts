/** The announcement of a commit: the progress of its partition, and what became visible. */
import { unpack } from '../codec/pack.ts';

/** The last invalidation that a batch sent to a partition for a tenant. */
export interface DownstreamInvalidation {
  readonly tenant: string;
  readonly partition: number;
  readonly sequence: number;
}

/** The commit data that fronts receive. */
export interface Announcement {
  readonly checkpoint: number;
  /** Tenant -> first invalidation whose rebuild is pending. */
  readonly pendingRebuilds: ReadonlyMap<string, number>;
  readonly downstream: readonly DownstreamInvalidation[];
  /**
   * Tenant -> a place in the stream: what was taken in from there on may have outputs that are not built yet. They wait for a
   * schema in JavaScript, or for a lookup index.
   */
  readonly deferred: ReadonlyMap<string, number>;
  /** Digests of the views, claims and indexes that changed, 8 bytes each. */
  readonly digests: Buffer;
}

/** The announcement as the owner gives it. */
export interface OwnAnnouncement extends Omit<Announcement, 'deferred'> {
  /** Absent: none. */
  readonly deferred?: Announcement['deferred'];
  /** From `packItemNames`; absent: no worker holds copies of shards, and the names would only cost room. */
  readonly itemNames?: Buffer;
}

export type PackedAnnouncement = [
  checkpoint: number,
  pendingRebuilds: [string, number][],
  downstream: [string, number, number][],
  digests: Buffer,
  deferred: [string, number][],
];

/** @param packed field `c` of a change, as `commit` packs it */
export function decodeAnnouncement(packed: Buffer): Announcement {
  const [checkpoint, pendingRebuilds, downstream, digests, deferred] = unpack<PackedAnnouncement>(packed);
  return {
    checkpoint,
    pendingRebuilds: new Map(pendingRebuilds),
    downstream: downstream.map(([tenant, partition, sequence]) => ({ tenant, partition, sequence })),
    deferred: new Map(deferred),
    digests,
  };
}

/** Field of `keys.downstream`. */
export function downstreamField(tenant: string, partition: number): string {
  return `${tenant}:${partition}`;
}
