/**
 * What a batch is about to put outside its partition: entries of lookup indexes, and claims. It is noted before it is
 * put, and forgotten by the commit that stores it in the processed records. So when a crash comes in between, the next
 * turn of the entity, whose state may be another one by then, knows what to take back.
 */
import { storeError } from './connection.ts';
import { keys } from './keys.ts';
import type { Lease } from './lease.ts';
import { Script } from './script.ts';
import type { Store } from './store.ts';
import type { Suspect } from './suspects.ts';

const intendScript = new Script<number>('intend', 2);

/** Claims and lookup entries of one entity. */
export type Intent = readonly Suspect[];

/** Field of `keys.intents`: only the originId may hold a bar. */
export function intentField(tenant: string, sourceId: string, originId: string): string {
  return `${tenant}|${sourceId}|${originId}`;
}

/** @param intents by `intentField`; each replaces what was noted. @throws FencedError, StoreUnavailableError */
export async function noteIntents(
  store: Store,
  { tag, epoch }: Lease,
  intents: ReadonlyMap<string, Intent>,
): Promise<void> {
  if (intents.size === 0) return;
  await intendScript.run(
    store.client,
    [keys.owner(tag), keys.intents(tag)],
    [epoch, ...[...intents].flatMap(([field, intent]) => [field, JSON.stringify(intent)])],
  );
}

/** What a former owner left unsettled, by `intentField`. @throws StoreUnavailableError */
export async function readIntents(store: Store, tag: string): Promise<Map<string, Intent>> {
  try {
    const stored = await store.client.hgetallBuffer(keys.intents(tag));
    return new Map(
      Object.entries(stored).map(([field, intent]) => [field, JSON.parse(intent.toString()) as Suspect[]]),
    );
  } catch (error) {
    throw storeError(error);
  }
}
