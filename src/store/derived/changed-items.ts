/**
 * Changes of index items: their receivers besides Redis, and the names of changed items that a commit announces for workers
 * with shard copies (docs/design/ownership.md "Shard copies"), which read the items from Redis.
 */
import type { EntityRef } from '../../contract/ids.ts';
import { pack, unpack } from '../codec/pack.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { StoredItem } from './item-record.ts';
import { indexOfField, itemIndexField, type ScopedIndex } from './items.ts';

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
