/** The commit of a partition's owner: the writes that are gathered for it, its checkpoint and its announcement. */
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
import { downstreamField, type OwnAnnouncement, type PackedAnnouncement } from '../streams/announcement.ts';
import { sendCommit } from './commit-calls.ts';

/** To pack a list of this many bytes takes some milliseconds. */
const partBytesMax = 4 * 1024 * 1024;
interface WritesPart {
  readonly sets: readonly (string | Buffer)[];
  readonly deletes: readonly string[];
  /** About so many. */
  readonly bytes: number;
}

/** Writes to one hash. A later write of a field wins. */
export class FieldWrites {
  /** Fields and values, one after the other; of a field that comes twice the later one counts. */
  readonly #sets: (string | Buffer)[] = [];
  readonly #deletes = new Set<string>();

  set(field: string | Buffer, value: Buffer): void {
    this.#sets.push(field, value);
    if (this.#deletes.size > 0 && typeof field === 'string') this.#deletes.delete(field);
  }

  /** Deletes are done after all sets, so a value that was set before goes, too. */
  delete(field: string): void {
    this.#deletes.add(field);
  }

  /** The sets, about `partBytesMax` at a time. The deletes go with the last of them. */
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
 * What becomes of a text in an ordered list. `new`: it comes into a list that surely does not have it, which costs
 * half of `kept`: it is there afterwards. `removed`: it is not.
 */
export type ListChange = 'new' | 'kept' | 'removed';

/** Texts of one ordered list by what becomes of them. No text is written twice. */
type ListWrites = Readonly<Record<ListChange, string[]>>;

/** Writes to the hashes and ordered lists of one partition. */
export class PartitionWrites {
  readonly #hashes = new Map<string, FieldWrites>();
  readonly #lists = new Map<string, ListWrites>();

  /** Puts a text into an ordered list, or takes it out. */
  list(key: string, text: string, change: ListChange): void {
    this.#listOf(key)[change].push(text);
  }

  set(key: string, field: string | Buffer, value: Buffer): void {
    this.hash(key).set(field, value);
  }

  delete(key: string, field: string): void {
    this.hash(key).delete(field);
  }

  /** The writes to one hash, for callers that have many of them. */
  hash(key: string): FieldWrites {
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    const writes = new FieldWrites();
    this.#hashes.set(key, writes);
    return writes;
  }

  /** As `scripts/partitions/commit.lua` reads them: lists of bounded size. They are packed in steps. */
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

/** Writes in the call of a commit besides those to its partition. */
export interface AlongsideCommit {
  /** On one Redis alone: in a cluster a call reaches one slot. Absent: none, and so below. */
  readonly claims?: readonly ClaimWrite[];
  /** On one Redis alone, too. */
  readonly references?: ReferenceChanges;
  /** Reported views. Each of them gets an entry in the change log. */
  readonly reported?: ReportedViews;
}

/**
 * @param after number of the owner's last commit. With it, a call that is sent twice is done once. An owner is refused,
 * too, when the store went back to an earlier state (a failover, a restore): what the owner believes done is not.
 * @returns number of the commit. @throws FencedError, StoreUnavailableError
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
