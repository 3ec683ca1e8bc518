/**
 * Sets of texts, each kept as the fields of a hash without values. Redis keeps a small hash in one piece of memory; of sets of
 * texts it does so only from version 7.2 on, and gives every member of a smaller version's set an allocation of its own.
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
  /** Of a set in the partition that is called. */
  readonly key: string;
  readonly member: string;
}

const register = new OwnerScript<number>('derived/register', 1);
const changesPerCall = 1000;

/** Changes sets of one partition, in the order given. @throws FencedError, StoreUnavailableError */
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

/** About so many members of a portion. */
const membersPerScan = 1000;

/** All members, a portion at a time; one may come twice. @throws StoreUnavailableError */
export async function* scanMembers(store: Store, key: string): AsyncGenerator<string[]> {
  const portions = portionsFrom((place) => fieldsPortion(store, key, place, membersPerScan));
  for await (const { fields } of portions) {
    if (fields.length > 0) yield fields.map((field) => field.toString());
  }
}
