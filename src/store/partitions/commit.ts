/** The commit of a partition owner: its collected writes, its checkpoint and its announcement. */
import { sliceMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { ReferenceChanges } from '../change-log/references.ts';
import { ReportedViews } from '../change-log/reported-views.ts';
import type { ClaimWrite } from '../claims/claim-records.ts';
import { digestBytes } from '../codec/digest.ts';
import { pack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { Lease } from '../ownership/lease.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { sortByText } from '../redis/ordered-lists.ts';
import type { Store } from '../store.ts';
import { downstreamField, type OwnAnnouncement, type PackedAnnouncement } from '../streams/changes-stream.ts';
import { sendCommit } from './commit-calls.ts';

/** Packing a list of this size takes a few milliseconds. */
const partBytesMax = 4 * 1024 * 1024;
interface WritesPart {
  readonly sets: readonly (string | Buffer)[];
  readonly deletes: readonly string[];
  /** Approximate size. */
  readonly bytes: number;
}

/** Writes to one hash. A later write of a field wins. */
export class FieldWrites {
  /** Fields and values, alternating. If a field occurs twice, the later one counts. */
  readonly #sets: (string | Buffer)[] = [];
  readonly #deletes = new Set<string>();

  set(field: string | Buffer, value: Buffer): void {
    this.#sets.push(field, value);
    if (this.#deletes.size > 0 && typeof field === 'string') this.#deletes.delete(field);
  }

  /** Deletes are applied after all sets, so they also delete values that were set before. */
  delete(field: string): void {
    this.#deletes.add(field);
  }

  /** The sets in parts of about `partBytesMax`. The last part has the deletes. */
  *parts(): Generator<WritesPart> {
    let from = 0;
    let bytes = 0;
    for (let at = 0; at < this.#sets.length; at += 2) {
      bytes += (this.#sets[at]?.length ?? 0) + (this.#sets[at + 1]?.length ?? 0);
      if (bytes < partBytesMax) continue;
      yield { sets: this.#sets.slice(from, at + 2), deletes: [], bytes };
      [from, bytes] = [at + 2, 0];
    }
    yield { sets: from === 0 ? this.#sets : this.#sets.slice(from), deletes: [...this.#deletes], bytes };
  }
}

/**
 * A write of a text to an ordered list. `new`: add it to a list that is known not to have it, at half the cost of `kept`.
 * `kept`: make sure that it is in the list. `removed`: remove it.
 */
export type ListChange = 'new' | 'kept' | 'removed';

/** Texts of one ordered list by change. Each text occurs once. */
type ListWrites = Readonly<Record<ListChange, string[]>>;

/** Writes to the hashes and ordered lists of one partition. */
export class PartitionWrites {
  readonly #hashes = new Map<string, FieldWrites>();
  readonly #lists = new Map<string, ListWrites>();

  /** Adds a text to an ordered list or removes it. */
  list(key: string, text: string, change: ListChange): void {
    this.#listOf(key)[change].push(text);
  }

  set(key: string, field: string | Buffer, value: Buffer): void {
    this.hash(key).set(field, value);
  }

  delete(key: string, field: string): void {
    this.hash(key).delete(field);
  }

  /** The writes to one hash, for callers with many of them. */
  hash(key: string): FieldWrites {
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    const writes = new FieldWrites();
    this.#hashes.set(key, writes);
    return writes;
  }

  /** Packs the writes for `scripts/partitions/commit.lua`, in steps and in lists of limited size. */
  *pack(): Generator<undefined, Buffer[], undefined> {
    const lists: Buffer[] = [];
    let list: LuaValue[] = [];
    let listBytes = 0;
    for (const [key, writes] of this.#hashes) {
      for (const { sets, deletes, bytes } of writes.parts()) {
        if (listBytes + bytes > partBytesMax && list.length > 0) {
          lists.push(packForLua(list));
          [list, listBytes] = [[], 0];
          yield;
        }
        list.push([key, sets, deletes]);
        listBytes += bytes;
      }
    }
    for (const [key, writes] of this.#lists) {
      sortByText(writes.new, (text) => text);
      list.push([key, writes.new, writes.kept, 'list', writes.removed]);
    }
    if (list.length > 0) lists.push(packForLua(list));
    return lists;
  }

  #listOf(key: string): ListWrites {
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const writes: ListWrites = { new: [], kept: [], removed: [] };
    this.#lists.set(key, writes);
    return writes;
  }
}

/** Writes outside the partition in the call of a commit. */
export interface AlongsideCommit {
  /** Only with a single Redis: in a cluster a call can only use one slot. Absent: none, as below. */
  readonly claims?: readonly ClaimWrite[];
  /** Only with a single Redis, too. */
  readonly references?: ReferenceChanges;
  /** Each reported view gets an entry in the change log. */
  readonly reported?: ReportedViews;
}

/**
 * @param after number of the owner's last commit. With it, a call that is sent twice takes effect once. Also, an owner is
 * refused if the store went back to an earlier state (failover, restore) and has lost its commits.
 * @returns number of the commit
 * @throws FencedError, StoreUnavailableError
 */
export async function commit(
  store: Store,
  lease: Lease,
  writes: PartitionWrites,
  announcement: OwnAnnouncement,
  after: number | null = null,
  { claims = [], references = new ReferenceChanges(), reported = new ReportedViews() }: AlongsideCommit = {},
): Promise<number> {
  const { checkpoint, digests } = announcement;
  assert(digests.length % digestBytes === 0, 'digests are whole');
  assert(Number.isSafeInteger(checkpoint) && checkpoint >= 0, 'a checkpoint is the sequence of an entry');
  const lists = await new Slice(sliceMs).run(writes.pack());
  const packable = commitForLua(lease, announcement, after, reported);
  const number = await sendCommit(store, { lease, packable, lists, claims, references });
  assert(after === null || number === after + 1, 'commits of an owner are numbered without gaps');
  return number;
}

function commitForLua(
  { tag, epoch }: Lease,
  { checkpoint, pendingRebuilds, downstream, deferred = new Map(), digests, itemNames }: OwnAnnouncement,
  after: number | null,
  reported: ReportedViews,
): LuaValue {
  const announced: PackedAnnouncement = [
    checkpoint,
    [...pendingRebuilds],
    downstream.map(({ tenant, partition, sequence }) => [tenant, partition, sequence]),
    digests,
    [...deferred],
  ];
  return [
    keys.owner(tag),
    String(epoch),
    after ?? '',
    checkpoint,
    pack(announced),
    pack([...pendingRebuilds]),
    downstream.flatMap(({ tenant, partition, sequence }) => [downstreamField(tenant, partition), sequence]),
    reported.forLua(tag),
    keys.clock(tag),
    keys.changes(tag),
    keys.downstream(tag),
    keys.stream(tag),
    pack([...deferred]),
    ...(itemNames === undefined ? [] : [itemNames]),
  ];
}
