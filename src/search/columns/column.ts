import type { Json } from '../../contract/json.ts';
import type { Bitmap } from '../bitmap.ts';
import type { Condition } from '../filter/condition.ts';
import type { DocTest } from '../filter/doc-test.ts';
import type { Steps } from '../pace.ts';
import type { Order } from '../sort/order.ts';

/** The values of one field, by doc. A doc that is not set has no value; `clear` comes before it is set again. */
export interface Column {
  /** Docs that have the field. */
  readonly present: Bitmap;
  readonly bytes: number;
  /**
   * Takes a value. One that does not fit the type is left out: an item may be older than its field's type.
   * @returns what is left to do, of a list; null: nothing
   */
  set(doc: number, value: Json): Steps<void> | null;
  /** @returns as `set` */
  clear(doc: number): Steps<void> | null;
  /** Makes room for docs below `capacity`. */
  grow(capacity: number): void;
  /** The docs that have a value for which the condition holds: any item of a list, any part of a range. */
  match(condition: Condition): Steps<DocTest>;
  /** Null: this type has no order. */
  order(isDescending: boolean): Order | null;
}
