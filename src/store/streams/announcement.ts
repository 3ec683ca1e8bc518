/** The announcement of a commit: the progress of its partition and the visible changes. */
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
   * Tenant -> sequence in the stream from which on outputs may not be built yet, because they wait for a JavaScript schema or a
   * lookup index.
   */
  readonly deferred: ReadonlyMap<string, number>;
  /** Digests of the changed views, claims and indexes, 8 bytes each. */
  readonly digests: Buffer;
}

/** The announcement as passed by the owner. */
export interface OwnAnnouncement extends Omit<Announcement, 'deferred'> {
  /** Absent: none. */
  readonly deferred?: Announcement['deferred'];
  /** From `packItemNames`; absent if no worker holds copies of shards, to save space. */
  readonly itemNames?: Buffer;
}

export type PackedAnnouncement = [
  checkpoint: number,
  pendingRebuilds: [string, number][],
  downstream: [string, number, number][],
  digests: Buffer,
  deferred: [string, number][],
];

/** @param packed field `c` of a change, packed by `commit` */
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
