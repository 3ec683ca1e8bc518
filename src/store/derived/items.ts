/** Index items as they lie in Redis: what a worker's shards are loaded from. */
import type { EntityRef } from '../../contract/ids.ts';
import { type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { largeJsonCharacters, parseInParts } from '../../contract/large-json/parse-in-parts.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { digestBytes, type NameList, type NamesPlace, readNames } from '../entities/name-lists.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/errors.ts';
import { hashPortion, portionsFrom } from '../redis/scan.ts';
import type { Store } from '../store.ts';
import { processedSources } from './processed.ts';

/** An index item as stored, under its index name (`indexName` in `keys.ts`). */
export interface StoredItem extends EntityRef {
  readonly updatedAtMs: number;
  readonly fields: JsonObject;
  /** JSON text of the fields, when the builder has it already. */
  readonly fieldsText?: string;
  /** The types that all fields are known to fit: those of an index, as its configuration has them. */
  readonly fittedTo?: ReadonlyMap<string, string>;
}

/** An index of one environment. */
export interface ScopedIndex {
  readonly scope: EnvironmentScope;
  /** From `indexName`. */
  readonly index: string;
}

/** What a portion of a scan should hold; items may be of any size, so the count asked for follows their sizes. */
const portionBytes = 512 * 1024;
const portionItemsMin = 4;
const portionItemsMax = 1000;
const portionItemsFirst = 100;

/** First byte of an item that leaves its names out. The digest of their list follows, then JSON text of the values. */
const withoutNames = 1;
const namedAt = 1 + digestBytes;
/** Of a text; longer ones keep their names, which are little of them. */
const listedCharactersMax = 4_096;

/**
 * The stored form: JSON text, in which `__proto__`, lone surrogates and long numbers sent as text survive. It leaves the names
 * out where they are among those of the list, in its order; a null stands for a field that the item does not have.
 * Equal items with members in equal order give equal bytes; the order is kept so that answers look as built.
 * @param list of the index; null: the names are kept
 */
export function encodeItem(
  {
    updatedAtMs,
    fields,
    fieldsText = JSON.stringify(fields),
  }: Pick<StoredItem, 'updatedAtMs' | 'fields' | 'fieldsText'>,
  list: NameList | null = null,
): Buffer {
  const values =
    list === null || fieldsText.length > listedCharactersMax ? null : valuesOf(fields, list.names);
  if (list === null || values === null) return Buffer.from(`[${updatedAtMs},${fieldsText}]`);
  const text = `[${updatedAtMs},${JSON.stringify(values)}]`;
  const stored = Buffer.allocUnsafe(namedAt + Buffer.byteLength(text));
  stored[0] = withoutNames;
  list.digest.copy(stored, 1);
  stored.write(text, namedAt);
  return stored;
}

/** The values of an item, one for each of the names; null when other names are among its own, or theirs in another order. */
function valuesOf(fields: JsonObject, names: readonly string[]): Json[] | null {
  const values: Json[] = [];
  for (const name of Object.keys(fields)) {
    const at = names.indexOf(name, values.length);
    const value = fields[name] ?? null;
    if (at < 0 || value === null) return null;
    while (values.length < at) values.push(null);
    values.push(value);
  }
  return values;
}

/** Digest of the list of names that an item leaves out; null: none. */
export function namesDigestOf(stored: Buffer): Buffer | null {
  return stored[0] === withoutNames ? stored.subarray(1, namedAt) : null;
}

/** @param names that it leaves out; null: none */
export function decodeItem(
  ref: EntityRef,
  stored: Buffer,
  names: readonly string[] | null = null,
): StoredItem {
  if (names === null) return itemOf(ref, JSON.parse(stored.toString()) as [number, JsonObject]);
  const [updatedAtMs, values] = JSON.parse(stored.toString('utf8', namedAt)) as [number, Json[]];
  const fields: JsonObject = {};
  for (const [at, value] of values.entries()) if (value !== null) setOwn(fields, names[at] ?? '', value);
  return itemOf(ref, [updatedAtMs, fields]);
}

function itemOf({ sourceId, originId }: EntityRef, [updatedAtMs, fields]: [number, JsonObject]): StoredItem {
  return { sourceId, originId, updatedAtMs, fields };
}

/** As `decodeItem`, in steps: for a large item, which has its names. */
function* decodeInParts(ref: EntityRef, stored: Buffer): Generator<undefined, StoredItem, undefined> {
  return itemOf(ref, (yield* parseInParts(stored.toString())) as [number, JsonObject]);
}

/** Longest time for which items are decoded without letting other work of the process run. */
const sliceMs = 10;

async function decodeItems(
  store: Store,
  place: NamesPlace,
  pairs: readonly (readonly [originId: Buffer | string, stored: Buffer])[],
): Promise<StoredItem[]> {
  const lists = await readNames(
    store,
    place,
    pairs.map(([, stored]) => namesDigestOf(stored)),
  );
  const items: StoredItem[] = [];
  const slice = new Slice(sliceMs);
  for (const [at, [name, stored]] of pairs.entries()) {
    const ref = { sourceId: place.sourceId, originId: name.toString() };
    const names = lists[at] ?? null;
    const isSmall = stored.length <= largeJsonCharacters;
    items.push(isSmall ? decodeItem(ref, stored, names) : await slice.run(decodeInParts(ref, stored)));
    if (slice.isOver) await slice.next();
  }
  return items;
}

/**
 * Items of one index in one partition, a portion of about `portionBytes` at a time.
 * What stays during the whole scan is seen at least once. @throws StoreUnavailableError
 */
export async function* scanItems(
  store: Store,
  partition: number,
  { tenant, environmentId }: EnvironmentScope,
  index: string,
): AsyncGenerator<StoredItem[]> {
  const tag = store.partitions.tag(partition);
  let count = portionItemsFirst;
  for (const sourceId of await sourcesOf(store, tag, tenant)) {
    const key = keys.items(tag, tenant, environmentId, sourceId, index);
    for await (const { pairs } of portionsFrom((place) => hashPortion(store, key, place, count))) {
      if (pairs.length === 0) continue;
      const bytes = pairs.reduce((sum, [field, stored]) => sum + field.length + stored.length, 0);
      const wanted = Math.round((portionBytes * pairs.length) / bytes);
      count = Math.min(portionItemsMax, Math.max(portionItemsMin, wanted));
      yield await decodeItems(store, { tag, tenant, sourceId }, pairs);
    }
  }
}

/** Sources of a tenant that may have items in a partition. @throws StoreUnavailableError */
async function sourcesOf(store: Store, tag: string, tenant: string): Promise<string[]> {
  const sources = await processedSources(store, tag);
  return sources.filter((source) => source.tenant === tenant).map(({ sourceId }) => sourceId);
}

/** Items as Redis has them now, in the order asked; null for one that is gone. @throws StoreUnavailableError */
export async function readItems(
  store: Store,
  partition: number,
  { scope: { tenant, environmentId }, index }: ScopedIndex,
  sourceId: string,
  originIds: readonly string[],
): Promise<(StoredItem | null)[]> {
  const tag = store.partitions.tag(partition);
  const key = keys.items(tag, tenant, environmentId, sourceId, index);
  const values = await answerOf(store.client.hmgetBuffer(key, ...originIds));
  const found = originIds.flatMap((originId, at): [string, Buffer][] => {
    const value = values[at] ?? null;
    return value === null ? [] : [[originId, value]];
  });
  const items = (await decodeItems(store, { tag, tenant, sourceId }, found)).values();
  return values.map((value) => (value === null ? null : (items.next().value ?? null)));
}

/** Number of items of an index in a partition. @throws StoreUnavailableError */
export async function countItems(
  store: Store,
  partition: number,
  { scope, index }: ScopedIndex,
): Promise<number> {
  const tag = store.partitions.tag(partition);
  const { tenant, environmentId } = scope;
  const counts = (await sourcesOf(store, tag, tenant)).map((sourceId) =>
    store.client.hlen(keys.items(tag, tenant, environmentId, sourceId, index)),
  );
  return (await answerOf(Promise.all(counts))).reduce((sum, count) => sum + count, 0);
}

/** Field of `keys.itemIndexes`. */
export function itemIndexField({ scope, index }: ScopedIndex): string {
  return `${scope.tenant}|${scope.environmentId}|${index}`;
}

/** The index of a field that `itemIndexField` wrote. */
export function indexOfField(field: string): ScopedIndex {
  const [tenant = '', environmentId = '', ...index] = field.split('|');
  return { scope: { tenant, environmentId }, index: index.join('|') };
}

/** Indexes that have, or once had, items in a partition. @throws StoreUnavailableError */
export async function listItemIndexes(store: Store, partition: number): Promise<ScopedIndex[]> {
  const fields = await answerOf(store.client.hkeys(keys.itemIndexes(store.partitions.tag(partition))));
  return fields.map(indexOfField);
}
