/**
 * The names of the items that a commit changed, as it announces them for the workers that hold copies of shards
 * (docs/design/ownership.md "Shard copies"). The items themselves they read from Redis.
 */
import { pack, unpack } from '../codec/pack.ts';
import { itemField } from '../keys.ts';
import type { ItemChange } from './item-sink.ts';
import { indexOfField, itemIndexField, type ScopedIndex } from './items.ts';

type PackedNames = [index: string, fields: string[]][];

/** Items of one index that changed. */
export interface ChangedItems {
  readonly index: ScopedIndex;
  /** As `itemField` writes them, each once. */
  readonly fields: ReadonlySet<string>;
}

export function packItemNames(changes: readonly ItemChange[]): Buffer {
  const fieldsOf = new Map<string, string[]>();
  for (const { scope, index, sourceId, originId } of changes) {
    const name = itemIndexField({ scope, index });
    const field = itemField(sourceId, originId);
    const fields = fieldsOf.get(name);
    if (fields === undefined) fieldsOf.set(name, [field]);
    else fields.push(field);
  }
  const packed: PackedNames = [...fieldsOf];
  return pack(packed);
}

/** What several commits changed together. @param lists from `packItemNames` */
export function changedItems(lists: readonly Buffer[]): ChangedItems[] {
  const fieldsOf = new Map<string, Set<string>>();
  for (const list of lists) {
    for (const [name, fields] of unpack<PackedNames>(list)) {
      const known = fieldsOf.get(name) ?? new Set();
      fieldsOf.set(name, known);
      for (const field of fields) known.add(field);
    }
  }
  return [...fieldsOf].map(([name, fields]) => ({ index: indexOfField(name), fields }));
}
