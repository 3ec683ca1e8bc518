import type { Json, JsonObject } from '../contract/json.ts';

/** An index item without its fields. */
export interface ItemHead {
  readonly partition: number;
  readonly sourceId: string;
  readonly originId: string;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
}

/** An index item as it is stored and loaded. */
export interface IndexItem extends ItemHead {
  /**
   * Values that fit their types (see `fitField`), without nulls and absent fields. Of auto-indexed types also values that
   * decide no type (see `decidesNothing`), whether they fit or not.
   */
  readonly fields: JsonObject;
  /** Values of members of objects, by path, as `fields`. Of auto-indexed types alone. */
  readonly members?: ReadonlyMap<string, Json>;
  /** JSON text of the fields, if the caller has it already. */
  readonly fieldsText?: string;
}
