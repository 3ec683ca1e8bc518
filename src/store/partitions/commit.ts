/** The commit of a partition's owner: all that a batch made, its checkpoint and its announcement in one Lua call. */

import { assert } from '../../lib/assert.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { ToldViews } from '../change-log/told-views.ts';
import type { ClaimWrite } from '../claims/claims.ts';
import { digestBytes } from '../codec/digest.ts';
import { pack } from '../codec/pack.ts';
import { ReferenceChanges } from '../derived/references.ts';
import { keys } from '../keys.ts';
import type { LuaValue } from '../redis/lua-list.ts';
import type { Store } from '../store.ts';
import { downstreamField, type OwnAnnouncement, type PackedAnnouncement } from './announcement.ts';
import { sendCommit } from './commit-calls.ts';
import type { HashWrites } from './hash-writes.ts';
import type { Lease } from './lease.ts';

/** Longest time for which writes are packed without letting other work of the process run. */
const sliceMs = 10;

/** What goes in the call of a commit besides the writes to its partition. */
export interface BesideCommit {
  /** On one Redis alone: in a cluster a call reaches one slot. Absent: none, and so below. */
  readonly claims?: readonly ClaimWrite[];
  /** On one Redis alone, too. */
  readonly references?: ReferenceChanges;
  /** What it tells of its views; each of them gets an entry in the change log. */
  readonly told?: ToldViews;
}

/**
 * @param after number of the owner's last commit. With it, a call that is sent twice is done once. An owner is refused,
 * too, when the store went back to an earlier state (a failover, a restore): what the owner believes done is not.
 * @returns number of the commit. @throws FencedError, StoreUnavailableError
 */
export async function commit(
  store: Store,
  lease: Lease,
  writes: HashWrites,
  announcement: OwnAnnouncement,
  after: number | null = null,
  { claims = [], references = new ReferenceChanges(), told = new ToldViews() }: BesideCommit = {},
): Promise<number> {
  const { checkpoint, digests } = announcement;
  assert(digests.length % digestBytes === 0, 'digests are whole');
  assert(Number.isSafeInteger(checkpoint) && checkpoint >= 0, 'a checkpoint is the sequence of an entry');
  const lists = await new Slice(sliceMs).run(writes.pack());
  const packable = commitForLua(lease, announcement, after, told);
  const number = await sendCommit(store, { lease, packable, lists, claims, references });
  assert(after === null || number === after + 1, 'commits of an owner are numbered without gaps');
  return number;
}

function commitForLua(
  { tag, epoch }: Lease,
  { checkpoint, pendingRebuilds, downstream, digests, itemNames }: OwnAnnouncement,
  after: number | null,
  told: ToldViews,
): LuaValue {
  const announced: PackedAnnouncement = [
    checkpoint,
    [...pendingRebuilds],
    downstream.map(({ tenant, partition, sequence }) => [tenant, partition, sequence]),
    digests,
  ];
  return [
    keys.owner(tag),
    String(epoch),
    after ?? '',
    checkpoint,
    pack(announced),
    pack([...pendingRebuilds]),
    downstream.flatMap(({ tenant, partition, sequence }) => [downstreamField(tenant, partition), sequence]),
    told.forLua(tag),
    keys.clock(tag),
    keys.changes(tag),
    keys.downstream(tag),
    keys.stream(tag),
    ...(itemNames === undefined ? [] : [itemNames]),
  ];
}
