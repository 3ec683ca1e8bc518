/**
 * Sets of strings, stored as hashes with empty values. Redis stores a small hash in one piece of memory. For sets of strings it
 * does so only since version 7.2; before, every member is a separate allocation.
 */
import { portions } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import { packForLua } from '../redis/lua-list.ts';
import { fieldsPortion, portionsFrom } from '../redis/scan.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';

/** The value of every member. */
export const noValue = '';

export interface MemberChange {
  readonly action: 'add' | 'drop';
  /** Key of a set in the called partition. */
  readonly key: string;
  readonly member: string;
}

const register = new OwnerScript<number>('derived/register', 1);
const changesPerCall = 1000;

/** Changes sets of a partition, in the given order. @throws FencedError, StoreUnavailableError */
export async function changeMembers(
  store: Store,
  caller: Caller,
  partition: number,
  changes: readonly MemberChange[],
): Promise<void> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  for (const portion of portions(changes, changesPerCall)) {
    const packed = packForLua(portion.flatMap(({ action, key, member }) => [action, key, member]));
    await register.run(store.client, caller, [keys.fence(tag)], [caller.partition, caller.epoch, packed]);
  }
}

/** Approximate number of members per portion. */
const membersPerScan = 1000;

/** All members, in portions, possibly with duplicates. @throws StoreUnavailableError */
export async function* scanMembers(store: Store, key: string): AsyncGenerator<string[]> {
  const portions = portionsFrom((place) => fieldsPortion(store, key, place, membersPerScan));
  for await (const { fields } of portions) {
    if (fields.length > 0) yield fields.map((field) => field.toString());
  }
}
