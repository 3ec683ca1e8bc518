/**
 * Most entities of a type have properties of the same names, and so have the items of an index and the views of a schema; what
 * is built from entities of one type mostly has the same names, too. Their records leave the names out, and say under which digest
 * their list is in `keys.names`, in the same partition. The call that stores a record stores its list with it
 * (`scripts/entities/accept.lua`, commits), so no record is ever without it. A list never changes: anyone who has read it may keep it.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import { assert } from '../../lib/assert.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

/** Names that records leave out, in their order. */
export interface NameList {
  /** Field of `keys.names`. */
  readonly digest: Buffer;
  readonly names: readonly string[];
  /** JSON text of the names. */
  readonly text: string;
}

interface MetList {
  readonly names: readonly string[];
  /** Null until records leave it out. */
  list: NameList | null;
  /** Records of this process that had these names. */
  records: number;
}

type MetText = Omit<MetList, 'names'>;

/** Each partition keeps the list, so it pays only when many records share it. */
const recordsMin = 64;
/** Of a list. A longer one stays in its records. */
const charactersMax = 4_096;
const listsMet = 1_000;
const listsRead = 2_000;
/** Enough to distinguish the lists of one source. Whoever crafts a collision only corrupts their own entities. */
export const listDigestBytes = 8;

const met = new BoundedCache<string, MetList>({ entriesMax: listsMet });
/** By the JSON text of the names. */
const metTexts = new BoundedCache<string, MetText>({ entriesMax: listsMet });
/** By source and digest (`readKey`). */
const read = new BoundedCache<string, readonly string[]>({ entriesMax: listsRead });

/** The list of an entity's names, if its record should leave them out. Counts the entity. */
export function nameListOf(properties: JsonObject): NameList | null {
  return sharedListOf(Object.keys(properties));
}

/** The list of a record's names, if it should leave them out. Counts the record. */
export function sharedListOf(names: readonly string[]): NameList | null {
  // Joining takes a fraction of what JSON text takes. Two lists with one text can only have zero bytes in their names.
  const joined = names.join('\0');
  if (names.length === 0 || joined.length > charactersMax) return null;
  const known = met.getOrMake(joined, () => ({ names, list: null, records: 0 }));
  if (!areEqual(known.names, names)) return null;
  return countedList(known, () => listOf(names));
}

/** As `sharedListOf`. @param text of the names in JSON, as `JSON.stringify` writes it */
export function sharedListOfText(text: string): NameList | null {
  if (text.length > charactersMax) return null;
  const known = metTexts.getOrMake(text, () => ({ list: null, records: 0 }));
  return countedList(known, () => listOf(JSON.parse(text) as string[]));
}

function countedList(known: MetText, list: () => NameList): NameList | null {
  known.records += 1;
  if (known.records < recordsMin) return null;
  known.list ??= list();
  return known.list;
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, at) => name === b[at]);
}

function listOf(names: readonly string[]): NameList {
  const text = JSON.stringify(names);
  return { names, digest: hash('sha256', text, 'buffer').subarray(0, listDigestBytes), text };
}

const lists = new WeakMap<readonly string[], NameList>();

/** The list of names that never change; an index has the same ones all the time. */
export function nameListFor(names: readonly string[]): NameList {
  const list = lists.get(names) ?? listOf(names);
  lists.set(names, list);
  return list;
}

/** Entities of one source in one partition, and what was built from them. */
export interface NamesPlace {
  readonly tag: string;
  readonly tenant: string;
  readonly sourceId: string;
}

/**
 * The lists of records, in the order given; null for a record that has its names itself. Undefined for one that went with its
 * list since it was read: a purge forgets the lists of a source after the last of their records.
 * @param digests null for a record that has its names itself. @throws StoreUnavailableError
 */
export async function readNames(
  store: Store,
  place: NamesPlace,
  digests: readonly (Uint8Array | null)[],
): Promise<(readonly string[] | null | undefined)[]> {
  const lists = await findNames(store, place, digests);
  if (lists.includes(undefined)) {
    const left = await answerOf(store.client.exists(...recordKeys(place)));
    assert(left === 0, 'the names of a record are stored with it');
  }
  return lists;
}

/** A list that this process has read; undefined: it has to be read (`findNames`). */
export function knownNames(
  source: Pick<NamesPlace, 'tenant' | 'sourceId'>,
  digest: Uint8Array,
): readonly string[] | undefined {
  return read.get(readKey(source, digest));
}

/** Lists of one source alone: a digest that a tenant has hit on purpose must not give another tenant's records other names. */
function readKey({ tenant, sourceId }: Pick<NamesPlace, 'tenant' | 'sourceId'>, digest: Uint8Array): string {
  const text = Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1');
  return `${text}${tenant}:${sourceId}`;
}

/** As `readNames`; undefined, too, where damage has left a record without its list. @throws StoreUnavailableError */
export async function findNames(
  store: Store,
  place: NamesPlace,
  digests: readonly (Uint8Array | null)[],
): Promise<(readonly string[] | null | undefined)[]> {
  const { tag, tenant, sourceId } = place;
  const known = new Map<string, readonly string[]>();
  const missing = new Map<string, Uint8Array>();
  const texts = digests.map((digest) => digest && readKey(place, digest));
  for (const [at, digest] of digests.entries()) {
    const text = texts[at] ?? null;
    if (digest === null || text === null) continue;
    const names = read.get(text);
    if (names === undefined) missing.set(text, digest);
    else known.set(text, names);
  }
  if (missing.size > 0) {
    const fields = [...missing.values()].map((digest) => Buffer.from(digest));
    const stored = await answerOf(store.client.hmget(keys.names(tag, tenant, sourceId), ...fields));
    for (const [at, text] of [...missing.keys()].entries()) {
      const list = stored[at];
      if (typeof list !== 'string') continue;
      const names = JSON.parse(list) as string[];
      read.set(text, names);
      known.set(text, names);
    }
  }
  return texts.map((text) => (text === null ? null : known.get(text)));
}

const forgetScript = new Script<0 | 1>('entities/forget-names', 3);

/** Forgets the lists of a source of which a partition has no entities and no items. @throws StoreUnavailableError */
export async function forgetNames(store: Store, place: NamesPlace): Promise<void> {
  const { tag, tenant, sourceId } = place;
  await forgetScript.run(store.client, [...recordKeys(place), keys.names(tag, tenant, sourceId)], []);
}

/** While one of them is there, the lists of the source are. */
function recordKeys({ tag, tenant, sourceId }: NamesPlace): [entities: string, processed: string] {
  return [keys.entities(tag, tenant, sourceId), keys.processed(tag, tenant, sourceId)];
}
