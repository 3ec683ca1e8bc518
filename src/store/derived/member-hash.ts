/**
 * Sets of texts, each kept as the fields of a hash without values. Redis keeps a small hash in one piece of memory; of sets of
 * texts it does so only from version 7.2 on, and gives every member of a smaller version's set an allocation of its own.
 */
import { fieldsPortion, portionsFrom } from '../redis/scan.ts';
import type { Store } from '../store.ts';

/** What stands behind each member. */
export const noValue = '';

/** About so many members of a portion. */
const membersPerScan = 1000;

/** All members, a portion at a time; one may come twice. @throws StoreUnavailableError */
export async function* scanMembers(store: Store, key: string): AsyncGenerator<string[]> {
  const portions = portionsFrom((place) => fieldsPortion(store, key, place, membersPerScan));
  for await (const { fields } of portions) {
    if (fields.length > 0) yield fields.map((field) => field.toString());
  }
}
