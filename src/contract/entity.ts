import type { JsonObject } from './json.ts';
import type { PublishTimes } from './publish-times.ts';

/** A source entity as an external system pushes it (docs/reference/http.md "Source entities"). */
export interface SourceEntity {
  readonly originId: string;
  readonly type: string;
  readonly url: string | null;
  readonly originParentId: string | null;
  readonly redirects: readonly string[];
  readonly properties: JsonObject;
  /** When it is published; absent: always. */
  readonly times?: PublishTimes;
}

/** A source entity in the store. */
export interface StoredEntity extends SourceEntity {
  readonly sourceId: string;
  /** Microseconds since 1970 of the last change, unique and increasing per entity. `_updatedAt` is this in milliseconds. */
  readonly stamp: number;
  /** Stamp of the write that created the entity. */
  readonly bornStamp: number;
  /** Stamp of the write that set the current `url`. */
  readonly urlStamp: number;
  /** True for an entity of many kilobytes. Its outputs are built with pauses, those of other entities in one go. */
  readonly isLarge?: true;
}
/** ISO 8601 text of a stamp (microseconds since 1970), truncated to milliseconds. */
export function stampText(stamp: number): string {
  return new Date(Math.floor(stamp / 1000)).toISOString();
}
