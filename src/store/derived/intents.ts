/**
 * The planned writes of a batch to other partitions: lookup index entries and claims. They are noted before they are written.
 * The commit that stores them in the processed records deletes the note. After a crash in between, the next owner processes the
 * entity again and can revert the writes, even if the entity has changed since.
 *
 * A note covers many entities in one field, because almost no note is ever read.
 */

import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { Lease } from '../ownership/lease.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { OwnerScript } from '../redis/script.ts';
import type { EntityName } from '../scopes.ts';
import type { Store } from '../store.ts';
import type { Suspect } from './dependents.ts';

const intendScript = new OwnerScript<number>('derived/intend', 2);

/** Claims and lookup entries of one entity. */
export type Intent = readonly Suspect[];

/** Intents by `intentName`. */
export type IntentNote = ReadonlyMap<string, Intent>;

/** The name of an entity in a note; only the originId may contain a bar. */
export function intentName({ tenant, sourceId, originId }: EntityName): string {
  return `${tenant}|${sourceId}|${originId}`;
}

/** The entity of a name. */
export function intentOwner(name: string): EntityName {
  const [tenant = '', sourceId = '', ...originId] = name.split('|');
  return { tenant, sourceId, originId: originId.join('|') };
}

/**
 * @param notes by field of `keys.intents`
 * @throws FencedError, StoreUnavailableError
 */
export async function recordIntents(
  store: Store,
  lease: Lease,
  notes: ReadonlyMap<string, IntentNote>,
): Promise<void> {
  if (notes.size === 0) return;
  const fields = [...notes].flatMap(([field, note]) => [field, encodeNote(note)]);
  const { tag, epoch } = lease;
  await intendScript.run(store.client, lease, [keys.owner(tag), keys.intents(tag)], [epoch, ...fields]);
}

/** The uncommitted intents of the previous owner, by field of `keys.intents`. @throws StoreUnavailableError */
export async function readIntents(store: Store, tag: string): Promise<Map<string, IntentNote>> {
  const stored = await answerOf(store.client.hgetallBuffer(keys.intents(tag)));
  return new Map(Object.entries(stored).map(([field, note]) => [field, decodeNote(note)]));
}

const suspectNumbers = { claim: 0, lookup: 1, view: 2, item: 3 } as const;

type PackedSuspect =
  | [
      kind: 0,
      environmentId: string,
      alias: string,
      claimKind: 0 | 1,
      field: string,
      host: string | null,
      display: string,
    ]
  | [kind: 1, layoutId: string, lookupKey: string]
  | [kind: 2 | 3, environmentId: string, name: string];

/** Names, each followed by its suspects. */
type PackedNote = (string | PackedSuspect[])[];

function encodeNote(note: IntentNote): Buffer {
  const packed: PackedNote = [...note].flatMap(([name, suspects]) => [name, suspects.map(packedSuspect)]);
  return pack(packed);
}

function packedSuspect(suspect: Suspect): PackedSuspect {
  if (suspect.kind === 'lookup') return [suspectNumbers.lookup, suspect.layoutId, suspect.lookupKey];
  if (suspect.kind !== 'claim') return [suspectNumbers[suspect.kind], suspect.environmentId, suspect.name];
  const { environmentId, alias, claimKind, field, host, display } = suspect;
  return [suspectNumbers.claim, environmentId, alias, claimKind === 'page' ? 0 : 1, field, host, display];
}

const openBracket = 0x5b;

function decodeNote(stored: Buffer): IntentNote {
  // An earlier version wrote JSON.
  if (stored[0] === openBracket) return new Map(JSON.parse(stored.toString()) as [string, Intent][]);
  const packed = unpack<PackedNote>(stored);
  const note = new Map<string, Intent>();
  for (let at = 0; at + 1 < packed.length; at += 2) {
    const [name, suspects] = [packed[at], packed[at + 1]];
    if (typeof name === 'string' && Array.isArray(suspects)) note.set(name, suspects.map(suspectOf));
  }
  return note;
}

function suspectOf(packed: PackedSuspect): Suspect {
  if (packed[0] === suspectNumbers.lookup) {
    const [, layoutId, lookupKey] = packed;
    return { kind: 'lookup', layoutId, lookupKey };
  }
  if (packed[0] !== suspectNumbers.claim) {
    const [number, environmentId, name] = packed;
    return { kind: number === suspectNumbers.view ? 'view' : 'item', environmentId, name };
  }
  const [, environmentId, alias, kind, field, host, display] = packed;
  return {
    kind: 'claim',
    environmentId,
    alias,
    claimKind: kind === 0 ? 'page' : 'redirect',
    field,
    host,
    display,
  };
}
