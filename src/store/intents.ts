/**
 * What a batch is about to put outside its partition: entries of lookup indexes, and claims. It is noted before it is
 * put, and forgotten by the commit that stores it in the processed records. So when a crash comes in between, the next
 * turn of the entity, whose state may be another one by then, knows what to take back.
 *
 * A note is about many entities and stands in one field, because nearly every one of them is never read.
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

/** Intents by `intentName`. */
export type IntentNote = ReadonlyMap<string, Intent>;

/** An entity in a note: only the originId may hold a bar. */
export function intentName(tenant: string, sourceId: string, originId: string): string {
  return `${tenant}|${sourceId}|${originId}`;
}

/** @param notes by field of `keys.intents`. @throws FencedError, StoreUnavailableError */
export async function noteIntents(
  store: Store,
  { tag, epoch }: Lease,
  notes: ReadonlyMap<string, IntentNote>,
): Promise<void> {
  if (notes.size === 0) return;
  const fields = [...notes].flatMap(([field, note]) => [field, JSON.stringify([...note])]);
  await intendScript.run(store.client, [keys.owner(tag), keys.intents(tag)], [epoch, ...fields]);
}

/** What a former owner left unsettled, by field of `keys.intents`. @throws StoreUnavailableError */
export async function readIntents(store: Store, tag: string): Promise<Map<string, IntentNote>> {
  try {
    const stored = await store.client.hgetallBuffer(keys.intents(tag));
    return new Map(
      Object.entries(stored).map(([field, note]) => [
        field,
        new Map(JSON.parse(note.toString()) as [string, Intent][]),
      ]),
    );
  } catch (error) {
    throw storeError(error);
  }
}
