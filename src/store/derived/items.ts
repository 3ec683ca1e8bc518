/** Index items as they lie in Redis: what a worker's shards are loaded from. */
import type { EntityRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { largeJsonCharacters, parseInParts } from '../../contract/large-json/parse-in-parts.ts';
import { Slice } from '../../lib/slices/slice.ts';
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

/**
 * The stored form: JSON text, in which `__proto__`, lone surrogates and long numbers sent as text survive.
 * Equal items with members in equal order give equal bytes; the order is kept so that answers look as built.
 */
export function encodeItem({
  updatedAtMs,
  fields,
  fieldsText = JSON.stringify(fields),
}: Pick<StoredItem, 'updatedAtMs' | 'fields' | 'fieldsText'>): Buffer {
  return Buffer.from(`[${updatedAtMs},${fieldsText}]`);
}

export function decodeItem(ref: EntityRef, stored: Buffer): StoredItem {
  return itemOf(ref, JSON.parse(stored.toString()) as [number, JsonObject]);
}

function itemOf({ sourceId, originId }: EntityRef, [updatedAtMs, fields]: [number, JsonObject]): StoredItem {
  return { sourceId, originId, updatedAtMs, fields };
}

/** As `decodeItem`, in steps: for a large item. */
function* decodeInParts(ref: EntityRef, stored: Buffer): Generator<undefined, StoredItem, undefined> {
  return itemOf(ref, (yield* parseInParts(stored.toString())) as [number, JsonObject]);
}

/** Longest time for which items are decoded without letting other work of the process run. */
const sliceMs = 10;

async function decodeItems(
  sourceId: string,
  pairs: readonly (readonly [originId: Buffer | string, stored: Buffer])[],
): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  const slice = new Slice(sliceMs);
  for (const [name, stored] of pairs) {
    const ref = { sourceId, originId: name.toString() };
    const isSmall = stored.length <= largeJsonCharacters;
    items.push(isSmall ? decodeItem(ref, stored) : await slice.run(decodeInParts(ref, stored)));
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
      yield await decodeItems(sourceId, pairs);
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
  const key = keys.items(store.partitions.tag(partition), tenant, environmentId, sourceId, index);
  const values = await answerOf(store.client.hmgetBuffer(key, ...originIds));
  const found = originIds.flatMap((originId, at): [string, Buffer][] => {
    const value = values[at] ?? null;
    return value === null ? [] : [[originId, value]];
  });
  const items = (await decodeItems(sourceId, found)).values();
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
