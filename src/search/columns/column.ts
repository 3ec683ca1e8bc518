import type { Json } from '../../contract/json.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { FilteredColumn } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import type { Order } from '../sort/order.ts';

/** The values of one field, by doc. A doc that is not set has no value. It must be cleared before it is set again. */
export interface Column extends FilteredColumn {
  readonly bytes: number;
  /**
   * Takes a value. A value that does not fit the type is left out: an item may be older than its field's type.
   * @returns the steps that are left, for a list or a table that grows; null when all is done
   */
  set(doc: number, value: Json): Steps<void> | null;
  /** @returns as `set` */
  clear(doc: number): Steps<void> | null;
  /** Its parts, for a snapshot. */
  parts(): Parts;
  /** Takes these parts back. The column must be new. @throws SnapshotDamagedError */
  restore(from: PartReader): Promise<void>;
  /** Makes room for docs below `capacity`. */
  grow(capacity: number): Steps<void>;
  /** The order of the docs; null when the type has none. */
  order(isDescending: boolean): Order | null;
}
