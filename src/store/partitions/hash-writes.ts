/** Writes to hashes and sorted sets, gathered until the commit of a partition. */
import { type LuaValue, packForLua } from '../redis/lua-list.ts';

/** To pack a list of so many bytes takes some milliseconds. */
const partBytesMax = 4 * 1024 * 1024;

interface WritesPart {
  readonly sets: readonly (string | Buffer)[];
  readonly deletes: readonly string[];
  /** About so many. */
  readonly bytes: number;
}

/** Writes to one hash. A later write of a field wins. */
export class FieldWrites {
  /** Fields and values, one behind the other; of a field that comes twice the later one counts. */
  readonly #sets: (string | Buffer)[] = [];
  readonly #deletes = new Set<string>();

  set(field: string | Buffer, value: Buffer): void {
    this.#sets.push(field, value);
    if (this.#deletes.size > 0 && typeof field === 'string') this.#deletes.delete(field);
  }

  /** Deletes are done behind all sets, so a value that was set before goes, too. */
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

/** Writes to one sorted set whose members all have the score 0. No member is written twice. */
class MemberWrites {
  /** Scores and members, one behind the other. */
  readonly adds: string[] = [];
  readonly removes: string[] = [];
}

/** Writes to the hashes and sorted sets of one partition. */
export class HashWrites {
  readonly #hashes = new Map<string, FieldWrites>();
  readonly #members = new Map<string, MemberWrites>();

  /** Puts a member into a sorted set, or takes it out. */
  list(key: string, member: string, isListed: boolean): void {
    const { adds, removes } = this.#membersOf(key);
    if (isListed) adds.push('0', member);
    else removes.push(member);
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
    for (const [key, { adds, removes }] of this.#members) list.push([key, adds, removes, 'sorted']);
    if (list.length > 0) lists.push(packForLua(list));
    return lists;
  }

  #membersOf(key: string): MemberWrites {
    const known = this.#members.get(key);
    if (known !== undefined) return known;
    const writes = new MemberWrites();
    this.#members.set(key, writes);
    return writes;
  }
}
