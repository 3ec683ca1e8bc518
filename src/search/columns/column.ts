import type { Json } from '../../contract/json.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { FilteredColumn } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import type { Order } from '../sort/order.ts';

/** The values of one field by doc. Docs that are not set have no value. A doc must be cleared before it is set again. */
export interface Column extends FilteredColumn {
  readonly bytes: number;
  /**
   * Sets a value. Ignores a value that does not fit the type, because an item may be older than the type of its field.
   * @returns the remaining steps, for a list or a growing table; null if done
   */
  set(doc: number, value: Json): Steps<void> | null;
  /** @returns see `set` */
  clear(doc: number): Steps<void> | null;
  /** The parts for a snapshot. */
  parts(): Parts;
  /** Restores the parts. The column must be new. @throws SnapshotDamagedError */
  restore(from: PartReader): Promise<void>;
  /** Makes room for docs below `capacity`. */
  grow(capacity: number): Steps<void>;
  /** The order of the docs; null if the type has none. */
  order(isDescending: boolean): Order | null;
}
