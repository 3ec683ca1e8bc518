import type { Json } from '../../contract/json.ts';
import type { Bitmap } from '../bitmap.ts';
import type { Condition } from '../filter/condition.ts';
import type { DocTest } from '../filter/matcher.ts';
import type { Order } from '../sort/order.ts';

/** The values of one field, by doc. A doc that is not set has no value; `clear` comes before it is set again. */
export interface Column {
  /** Docs that have the field. */
  readonly present: Bitmap;
  readonly bytes: number;
  /** A value that does not fit the type is not taken: an item may be older than its field's type. */
  set(doc: number, value: Json): void;
  clear(doc: number): void;
  /** Makes room for docs below `capacity`. */
  grow(capacity: number): void;
  /** The docs that have a value for which the condition holds: any item of a list, any part of a range. */
  match(condition: Condition): DocTest;
  /** Null: this type has no order. */
  order(isDescending: boolean): Order | null;
}
