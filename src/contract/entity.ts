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
  /** Microseconds since 1970 of the last change, unique and rising per entity. `_updatedAt` is its millisecond. */
  readonly stamp: number;
  /** Stamp of the write that created the entity. */
  readonly bornStamp: number;
  /** Stamp of the write that gave `url` its present value. */
  readonly urlStamp: number;
  /** True for one of many kilobytes: what is built from it pauses. Others are made immediately. */
  readonly isLarge?: true;
}
/** ISO 8601 text of a stamp, which counts microseconds since 1970: of its millisecond. */
export function stampText(stamp: number): string {
  return new Date(Math.floor(stamp / 1000)).toISOString();
}
