import type { JsonObject } from '../contract/json.ts';

/** An index item as it is stored and loaded. */
export interface IndexItem {
  readonly partition: number;
  readonly sourceId: string;
  readonly originId: string;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  /** Values that fit their types (see `fitField`), without nulls and absent fields. */
  readonly fields: JsonObject;
  /** JSON text of the fields, if the caller has it already. */
  readonly fieldsText?: string;
}
