/**
 * The names of the items that a commit changed, as it announces them for the workers that hold copies of shards
 * (docs/design/ownership.md "Shard copies"). The items themselves they read from Redis.
 */
import { pack, unpack } from '../codec/pack.ts';
import type { ItemChange } from './item-sink.ts';
import { indexOfField, itemIndexField, type ScopedIndex } from './items.ts';

type PackedNames = [index: string, sourceId: string, originIds: string[]][];

/** Items of one index and source that changed. */
export interface ChangedItems {
  readonly index: ScopedIndex;
  readonly sourceId: string;
  /** Each once. */
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

/** What several commits changed together. @param lists from `packItemNames` */
export function changedItems(lists: readonly Buffer[]): ChangedItems[] {
  return gathered(lists.flatMap(namesIn));
}

function namesIn(list: Buffer): Pick<ItemChange, 'scope' | 'index' | 'sourceId' | 'originId'>[] {
  return unpack<PackedNames>(list).flatMap(([field, sourceId, originIds]) => {
    const index = indexOfField(field);
    return originIds.map((originId) => ({ ...index, sourceId, originId }));
  });
}

/** By index and source, in the order of their first items. */
function gathered(
  names: readonly Pick<ItemChange, 'scope' | 'index' | 'sourceId' | 'originId'>[],
): ChangedItems[] {
  const groups = new Map<string, { index: ScopedIndex; sourceId: string; originIds: Set<string> }>();
  for (const { scope, index, sourceId, originId } of names) {
    const ofIndex = { scope, index };
    // A source id never holds a colon.
    const key = `${sourceId}:${itemIndexField(ofIndex)}`;
    const group = groups.get(key) ?? { index: ofIndex, sourceId, originIds: new Set() };
    groups.set(key, group);
    group.originIds.add(originId);
  }
  return [...groups.values()];
}
