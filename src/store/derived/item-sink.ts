/** The changes of index items, and where they go besides Redis. */
import type { EntityRef } from '../../contract/ids.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import type { StoredItem } from './item-record.ts';

/** A change of one index item: null removes it. */
export interface ItemChange extends EntityRef {
  readonly scope: EnvironmentScope;
  /** From `indexName`. */
  readonly index: string;
  readonly item: StoredItem | null;
}

/** Where a partition's owner puts index items besides Redis: the worker's in-memory shards. */
export interface ItemSink {
  /** Loads the partition's items from Redis, as of commit number `commits` or later. */
  open(partition: number, epoch: number, commits: number): Promise<void>;
  /** Called right after commit `commits` of the partition, in order; without changes too. */
  apply(partition: number, commits: number, changes: readonly ItemChange[]): void;
  /** The partition is no longer ours. */
  close(partition: number): void;
}

/** The sink of an owner whose items the shard copies fetch, in its worker too: they follow what its commits announce. */
export const fetchedItems: ItemSink = {
  open: async () => {},
  apply: () => {},
  close: () => {},
};
