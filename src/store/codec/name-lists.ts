/**
 * Most entities of a type have the same property names, and so do the items of an index and the views of a schema. Their
 * records omit the names and contain the digest of their list in `keys.names`, in the same partition. The call that stores a
 * record also stores its list (`scripts/entities/accept.lua`, commits), so every record has one. Lists never change, so they
 * can be cached.
 */
import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/json.ts';
import { assert } from '../../lib/assert.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { SourceRef } from '../scopes.ts';
import type { Store } from '../store.ts';

/** Names that records omit, in order. */
export interface NameList {
  /** Field of `keys.names`. */
  readonly digest: Buffer;
  readonly names: readonly string[];
  /** JSON text of the names. */
  readonly text: string;
}

interface MetList {
  readonly names: readonly string[];
  /** Null until records use the list. */
  list: NameList | null;
  /** Number of records with these names in this process. */
  records: number;
}

type MetText = Omit<MetList, 'names'>;

/** Minimum number of records that share a list, because each partition stores it. */
const recordsMin = 64;
/** Maximum length of a list in characters; longer ones stay in the records. */
const charactersMax = 4_096;
const listsMet = 1_000;
const listsRead = 2_000;
/** Enough to distinguish the lists of one source. A crafted collision only corrupts the entities of its author. */
export const listDigestBytes = 8;

const met = new BoundedCache<string, MetList>({ entriesMax: listsMet });
/** By the JSON text of the names. */
const metTexts = new BoundedCache<string, MetText>({ entriesMax: listsMet });
/** By source and digest (`readKey`). */
const read = new BoundedCache<string, readonly string[]>({ entriesMax: listsRead });

/** The list of an entity's names, if its record should omit them. Counts the entity. */
export function nameListOf(properties: JsonObject): NameList | null {
  return sharedListOf(Object.keys(properties));
}

/** The list of a record's names, if it should omit them. Counts the record. */
export function sharedListOf(names: readonly string[]): NameList | null {
  // Joining takes a fraction of the time of JSON. Two lists can only have the same text if their names contain zero bytes.
  const joined = names.join('\0');
  if (names.length === 0 || joined.length > charactersMax) return null;
  const known = met.getOrCreate(joined, () => ({ names, list: null, records: 0 }));
  if (!areEqual(known.names, names)) return null;
  return countedList(known, () => listOf(names));
}

/** Like `sharedListOf`. @param text the names as JSON from `JSON.stringify` */
export function sharedListOfText(text: string): NameList | null {
  if (text.length > charactersMax) return null;
  const known = metTexts.getOrCreate(text, () => ({ list: null, records: 0 }));
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

/** The list of constant names, such as those of an index. */
export function nameListFor(names: readonly string[]): NameList {
  const list = lists.get(names) ?? listOf(names);
  lists.set(names, list);
  return list;
}

/** The entities of a source in a partition, and their outputs. */
export interface NamesPlace extends SourceRef {
  readonly tag: string;
}

/**
 * The name lists of records, in the given order; null for a record with its own names. Undefined for a record that was removed
 * with its list since it was read: a purge removes the lists of a source after its last record.
 * @param digests null for a record with its own names
 * @throws StoreUnavailableError
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

/** A cached list; undefined if it must be read (`findNames`). */
export function knownNames(source: SourceRef, digest: Uint8Array): readonly string[] | undefined {
  return read.get(readKey(source, digest));
}

/** The cache key includes the source, so that a crafted collision cannot change the names in records of another tenant. */
function readKey({ tenant, sourceId }: SourceRef, digest: Uint8Array): string {
  const text = Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('latin1');
  return `${text}${tenant}:${sourceId}`;
}

/** Like `readNames`; also undefined if corruption has left a record without its list. @throws StoreUnavailableError */
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

/** Removes the lists of a source without entities and items in a partition. @throws StoreUnavailableError */
export async function forgetNames(store: Store, place: NamesPlace): Promise<void> {
  const { tag, tenant, sourceId } = place;
  await forgetScript.run(store.client, [...recordKeys(place), keys.names(tag, tenant, sourceId)], []);
}

/** The lists of a source exist while one of these keys exists. */
function recordKeys({ tag, tenant, sourceId }: NamesPlace): [entities: string, processed: string] {
  return [keys.entities(tag, tenant, sourceId), keys.processed(tag, tenant, sourceId)];
}
