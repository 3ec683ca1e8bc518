/** The commit of a partition's owner: all that a batch made, its checkpoint and its announcement in one Lua call. */

import { digestBytes } from '../codec/digest.ts';
import { pack, unpack } from '../codec/pack.ts';
import { type ClaimWrite, changesKept, packClaims } from '../derived/claims.ts';
import { keys } from '../keys.ts';
import { storeError } from '../redis/connection.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { Lease } from './lease.ts';

const commitScript = new OwnerScript<number>('commit', 5, 'claims');

const partBytesMax = 32 * 1024 * 1024;

interface WritesPart {
  readonly sets: readonly (string | Buffer)[];
  readonly deletes: readonly string[];
  /** About. */
  readonly bytes: number;
}

/** Writes to one hash. A later write of a field wins. */
export class FieldWrites {
  /** Fields and values, one behind the other; of a field that comes twice the later one counts. */
  readonly #sets: (string | Buffer)[] = [];
  readonly #deletes = new Set<string>();

  set(field: string, value: Buffer): void {
    this.#sets.push(field, value);
    if (this.#deletes.size > 0) this.#deletes.delete(field);
  }

  /** Done behind all that is set, so a value that was set before goes too. */
  delete(field: string): void {
    this.#deletes.add(field);
  }

  /** What to set, about `partBytesMax` at a time, and with the last of it what to delete. */
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

/** Writes to the hashes of one partition, gathered until the commit. */
export class HashWrites {
  readonly #hashes = new Map<string, FieldWrites>();

  set(key: string, field: string, value: Buffer): void {
    this.hash(key).set(field, value);
  }

  delete(key: string, field: string): void {
    this.hash(key).delete(field);
  }

  /** The writes to one hash, for who has many of them. */
  hash(key: string): FieldWrites {
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    const writes = new FieldWrites();
    this.#hashes.set(key, writes);
    return writes;
  }

  /** As `scripts/commit.lua` reads them: lists of bounded size, because Redis takes no argument above 512 MB. */
  packed(): Buffer[] {
    const lists: Buffer[] = [];
    let list: LuaValue[] = [];
    let listBytes = 0;
    for (const [key, writes] of this.#hashes) {
      for (const { sets, deletes, bytes } of writes.parts()) {
        if (listBytes + bytes > partBytesMax && list.length > 0) {
          lists.push(packForLua(list));
          [list, listBytes] = [[], 0];
        }
        list.push([key, sets, deletes]);
        listBytes += bytes;
      }
    }
    if (list.length > 0) lists.push(packForLua(list));
    return lists;
  }
}

/** Last marks that a batch's changes sent to other partitions. */
export interface CausedMark {
  readonly tenant: string;
  readonly partition: number;
  readonly sequence: number;
}

/** What fronts learn of a commit. */
export interface Announcement {
  readonly checkpoint: number;
  /** Tenant -> first mark that waits for its rebuild. */
  readonly dirty: ReadonlyMap<string, number>;
  readonly caused: readonly CausedMark[];
  /** Digests of the views, claims and indexes that changed, 8 bytes each. */
  readonly digests: Buffer;
}

type PackedAnnouncement = [number, [string, number][], [string, number, number][], Buffer];

export function decodeAnnouncement(packed: Buffer): Announcement {
  const [checkpoint, dirty, caused, digests] = unpack<PackedAnnouncement>(packed);
  return {
    checkpoint,
    dirty: new Map(dirty),
    caused: caused.map(([tenant, partition, sequence]) => ({ tenant, partition, sequence })),
    digests,
  };
}

/** Field of `keys.caused`. */
export function causedField(tenant: string, partition: number): string {
  return `${tenant}:${partition}`;
}

/**
 * @param after number of the owner's last commit. Then a call that is sent twice is done once, and an owner of a
 * store that went back to an earlier state (a failover, a restore) is refused: what it believes done is not.
 * @param claims that move with it, on one Redis: in a cluster a call reaches one slot alone
 * @returns number of the commit. @throws FencedError, StoreUnavailableError
 */
export function commit(
  store: Store,
  lease: Lease,
  writes: HashWrites,
  announcement: Announcement,
  after: number | null = null,
  claims: readonly ClaimWrite[] = [],
): Promise<number> {
  const { tag, epoch } = lease;
  const { checkpoint, dirty, caused, digests } = announcement;
  if (digests.length % digestBytes !== 0) throw new TypeError('digests are not whole');
  const packedDirty = pack([...dirty]);
  const packed: PackedAnnouncement = [
    checkpoint,
    [...dirty],
    caused.map(({ tenant, partition, sequence }) => [tenant, partition, sequence]),
    digests,
  ];
  return commitScript.run(
    store.client,
    lease,
    [keys.owner(tag), keys.clock(tag), keys.changes(tag), keys.caused(tag), keys.stream(tag)],
    [
      epoch,
      checkpoint,
      pack(packed),
      packedDirty,
      changesKept,
      after ?? '',
      packForLua(
        caused.flatMap(({ tenant, partition, sequence }) => [causedField(tenant, partition), sequence]),
      ),
      packClaims(store, claims),
      ...writes.packed(),
    ],
  );
}

/** Dirty views and items that a former owner left: member -> [first, last] mark. @throws StoreUnavailableError */
export async function readDirty(store: Store, tag: string): Promise<Map<string, readonly [number, number]>> {
  try {
    const stored = await store.client.hgetallBuffer(keys.dirty(tag));
    return new Map(
      Object.entries(stored).map(([member, marks]) => [member, unpack<[number, number]>(marks)]),
    );
  } catch (error) {
    throw storeError(error);
  }
}

export function encodeDirty(first: number, last: number): Buffer {
  return pack([first, last]);
}
