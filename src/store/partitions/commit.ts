/** The commit of a partition's owner: all that a batch made, its checkpoint and its announcement in one Lua call. */

import { assert } from '../../lib/assert.ts';
import { Slice } from '../../lib/slice.ts';
import { ToldViews } from '../change-log/told-views.ts';
import { claimParts, packClaims } from '../claims/claim-calls.ts';
import { type ClaimWrite, changesKept } from '../claims/claims.ts';
import { digestBytes } from '../codec/digest.ts';
import { pack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { packForLua } from '../redis/lua-list.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { type Announcement, downstreamField, type PackedAnnouncement } from './announcement.ts';
import type { HashWrites } from './hash-writes.ts';
import type { Lease } from './lease.ts';

/** Longest time for which writes are packed without letting other work of the process run. */
const sliceMs = 10;

const commitScript = new OwnerScript<number>('partitions/commit', 5, claimParts);

/**
 * @param after number of the owner's last commit. With it, a call that is sent twice is done once. An owner is refused,
 * too, when the store went back to an earlier state (a failover, a restore): what the owner believes done is not.
 * @param claims that are written in the same call, on one Redis: in a cluster a call reaches one slot alone
 * @param told what it tells of its views; each of them gets an entry in the change log
 * @returns number of the commit. @throws FencedError, StoreUnavailableError
 */
export async function commit(
  store: Store,
  lease: Lease,
  writes: HashWrites,
  announcement: Announcement,
  after: number | null = null,
  claims: readonly ClaimWrite[] = [],
  told: ToldViews = new ToldViews(),
): Promise<number> {
  const { tag, epoch } = lease;
  const { checkpoint, pendingRebuilds, downstream, digests } = announcement;
  assert(digests.length % digestBytes === 0, 'digests are whole');
  assert(Number.isSafeInteger(checkpoint) && checkpoint >= 0, 'a checkpoint is the sequence of an entry');
  const lists = await new Slice(sliceMs).run(writes.pack());
  const packedPending = pack([...pendingRebuilds]);
  const packed: PackedAnnouncement = [
    checkpoint,
    [...pendingRebuilds],
    downstream.map(({ tenant, partition, sequence }) => [tenant, partition, sequence]),
    digests,
  ];
  const number = await commitScript.run(
    store.client,
    lease,
    [keys.owner(tag), keys.clock(tag), keys.changes(tag), keys.downstream(tag), keys.stream(tag)],
    [
      epoch,
      checkpoint,
      pack(packed),
      packedPending,
      changesKept,
      after ?? '',
      packForLua(
        downstream.flatMap(({ tenant, partition, sequence }) => [
          downstreamField(tenant, partition),
          sequence,
        ]),
      ),
      packClaims(store, tag, claims),
      told.packed(tag),
      ...lists,
    ],
  );
  assert(after === null || number === after + 1, 'commits of an owner are numbered without gaps');
  return number;
}
