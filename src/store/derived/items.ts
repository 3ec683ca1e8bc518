/**
 * Index items in Redis, from which a worker's shards are loaded. Their changes have other receivers, too, and a commit announces
 * the names of changed items for workers with shard copies (docs/design/ownership.md "Shard copies"), which read the items from
 * Redis.
 */

import type { EntityRef } from '../../contract/ids.ts';
import { largeJsonCharacters } from '../../contract/large-json/parse-in-parts.ts';
import { sliceMs } from '../../contract/limits.ts';
import { sum } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { type NamesPlace, readNames } from '../codec/name-lists.ts';
import { pack, unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { hashPortion, portionsFrom } from '../redis/scan.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import {
  decodeInParts,
  decodeItem,
  type EncodedItem,
  namesDigestOf,
  type StoredItem,
} from './item-record.ts';
import { processedSources } from './processed.ts';

/** An index of one environment. */
export interface ScopedIndex {
  readonly scope: EnvironmentScope;
  /** From `indexName`. */
  readonly index: string;
}

/** Target size of a scan portion. Items may have any size, so the requested count adapts. */
const portionBytes = 512 * 1024;
const portionItemsMin = 4;
const portionItemsMax = 1000;
const portionItemsFirst = 100;

/** Adds the omitted name lists to items, and drops removed items. @throws StoreUnavailableError */
async function withNames(
  store: Store,
  place: NamesPlace,
  pairs: readonly (readonly [originId: Buffer | string, stored: Buffer])[],
): Promise<EncodedItem[]> {
  // Most items have the same list as the one before.
  const digests: (Buffer | null)[] = [];
  const placesOfDigests = pairs.map(([, stored]) => {
    const digest = namesDigestOf(stored);
    const last = digests.at(-1);
    const isLast = digest !== null && last?.equals(digest);
    return isLast ? digests.length - 1 : digests.push(digest) - 1;
  });
  const lists = await readNames(store, place, digests);
  return pairs.flatMap(([name, stored], at) => {
    const names = lists[placesOfDigests[at] ?? 0];
    return names === undefined
      ? []
      : [{ sourceId: place.sourceId, originId: name.toString(), stored, names }];
  });
}

/** Parses items, in slices. */
export async function decodeItems(encoded: readonly EncodedItem[]): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  const slice = new Slice(sliceMs);
  for (const item of encoded) {
    const isSmall = item.stored.length <= largeJsonCharacters;
    items.push(
      isSmall ? decodeItem(item, item.stored, item.names) : await slice.run(decodeInParts(item, item.stored)),
    );
    if (slice.isOver) await slice.next();
  }
  return items;
}

/**
 * Items of an index in a partition, in portions of about `portionBytes`. Items that exist during the whole scan are returned at
 * least once.
 * @throws StoreUnavailableError
 */
export async function* scanItems(
  store: Store,
  partition: number,
  { tenant, environmentId }: EnvironmentScope,
  index: string,
): AsyncGenerator<EncodedItem[]> {
  const tag = store.partitions.tag(partition);
  let count = portionItemsFirst;
  for (const sourceId of await sourcesOf(store, tag, tenant)) {
    const key = keys.items(tag, tenant, environmentId, sourceId, index);
    for await (const { pairs } of portionsFrom((place) => hashPortion(store, key, place, count))) {
      if (pairs.length === 0) continue;
      const bytes = pairs.reduce((sum, [field, stored]) => sum + field.length + stored.length, 0);
      const wanted = Math.round((portionBytes * pairs.length) / bytes);
      count = Math.min(portionItemsMax, Math.max(portionItemsMin, wanted));
      yield await withNames(store, { tag, tenant, sourceId }, pairs);
    }
  }
}

/** Sources of a tenant that may have items in a partition. @throws StoreUnavailableError */
async function sourcesOf(store: Store, tag: string, tenant: string): Promise<string[]> {
  const sources = await processedSources(store, tag);
  return sources.filter((source) => source.tenant === tenant).map(({ sourceId }) => sourceId);
}

/** The current items in Redis, in the given order; null for a removed item. @throws StoreUnavailableError */
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
  const encoded = await withNames(store, { tag, tenant, sourceId }, found);
  const items = new Map((await decodeItems(encoded)).map((item) => [item.originId, item]));
  return originIds.map((originId) => items.get(originId) ?? null);
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
  return sum(await answerOf(Promise.all(counts)));
}

/** Field of `keys.itemIndexes`. */
export function itemIndexField({ scope, index }: ScopedIndex): string {
  return `${scope.tenant}|${scope.environmentId}|${index}`;
}

/** Parses a field from `itemIndexField`. */
export function indexOfField(field: string): ScopedIndex {
  const [tenant = '', environmentId = '', ...index] = field.split('|');
  return { scope: { tenant, environmentId }, index: index.join('|') };
}

/** Indexes that have or had items in a partition. @throws StoreUnavailableError */
export async function listItemIndexes(store: Store, partition: number): Promise<ScopedIndex[]> {
  const fields = await answerOf(store.client.hkeys(keys.itemIndexes(store.partitions.tag(partition))));
  return fields.map(indexOfField);
}

/** A change of one index item: null removes it. */
export interface ItemChange extends EntityRef {
  readonly scope: EnvironmentScope;
  /** From `indexName`. */
  readonly index: string;
  readonly item: StoredItem | null;
}

/** Receives the index items of a partition's owner, in addition to Redis: the worker's in-memory shards. */
export interface ItemSink {
  /** Loads the partition's items from Redis, as of commit number `commits` or later. */
  open(partition: number, epoch: number, commits: number): Promise<void>;
  /** Called directly after commit `commits` of the partition, in order, also without changes. */
  apply(partition: number, commits: number, changes: readonly ItemChange[]): void;
  /** Called when the worker no longer owns the partition. */
  close(partition: number): void;
}

/**
 * The sink of an owner with shard copies, which follow the announcements of its commits and fetch the items, even in the same
 * worker.
 */
export const fetchedItems: ItemSink = {
  open: async () => {},
  apply: () => {},
  close: () => {},
};

type PackedNames = [index: string, sourceId: string, originIds: string[]][];

/** Changed items of an index and source. */
export interface ChangedItems {
  readonly index: ScopedIndex;
  readonly sourceId: string;
  /** Without duplicates. */
  readonly originIds: ReadonlySet<string>;
}

export function packItemNames(changes: readonly ItemChange[]): Buffer {
  const packed: PackedNames = [...gathered(changes)].map(({ index, sourceId, originIds }) => [
    itemIndexField(index),
    sourceId,
    [...originIds],
  ]);
  return pack(packed);
}

/** The combined changes of several commits. @param lists from `packItemNames` */
export function changedItems(lists: readonly Buffer[]): ChangedItems[] {
  return gathered(lists.flatMap(namesIn));
}

function namesIn(list: Buffer): Pick<ItemChange, 'scope' | 'index' | 'sourceId' | 'originId'>[] {
  return unpack<PackedNames>(list).flatMap(([field, sourceId, originIds]) => {
    const index = indexOfField(field);
    return originIds.map((originId) => ({ ...index, sourceId, originId }));
  });
}

/** Groups by index and source, in the order of their first items. */
function gathered(
  names: readonly Pick<ItemChange, 'scope' | 'index' | 'sourceId' | 'originId'>[],
): ChangedItems[] {
  const groups = new Map<string, { index: ScopedIndex; sourceId: string; originIds: Set<string> }>();
  for (const { scope, index, sourceId, originId } of names) {
    const ofIndex = { scope, index };
    // Source ids never contain colons.
    const key = `${sourceId}:${itemIndexField(ofIndex)}`;
    const group = groups.get(key) ?? { index: ofIndex, sourceId, originIds: new Set() };
    groups.set(key, group);
    group.originIds.add(originId);
  }
  return [...groups.values()];
}
