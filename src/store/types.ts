/** Shapes that the store hands to the rooms above it. */
import type { EntityRef, ViewRef } from '../contract/ids.ts';
import type { JsonObject } from '../contract/json.ts';

/** An environment's data belong to one tenant; two tenants may use the same environment id. */
export interface EnvironmentScope {
  readonly tenant: string;
  readonly environmentId: string;
}

/**
 * Places in the partitions' streams: partition -> sequence number of the entry that announced a write.
 * What `X-Service-Version` carries, made opaque by `formatVersion`.
 */
export type VersionVector = ReadonlyMap<number, number>;

export type AcceptOutcome = 'changed' | 'unchanged' | 'typeConflict';

/** A source entity made ready for the store: hashed and encoded once (see `encodeEntity`). */
export interface EncodedEntity {
  readonly originId: string;
  readonly type: string;
  /** 16 bytes over everything that counts for changed or unchanged, whatever the order of object keys. */
  readonly contentHash: Buffer;
  /** 8 bytes over the url. */
  readonly urlHash: Buffer;
  /** How much of a call it takes: about the bytes that `encode` gives. */
  readonly size: number;
  /** As it is stored. Made at the first call: of an entity that is stored as it is there is none. */
  encode(): Buffer;
}

/** A view of an environment (`viewTarget`). */
export interface ViewTarget extends EntityRef {
  readonly alias: string;
  /** Its field in its hash, which tells it from the other views of the environment. */
  readonly field: string;
}

/** A reference as stored in a view's body. */
export interface StoredReference {
  /** Null when the schema gave an id that is none; then nothing can be found. */
  readonly target: ViewTarget | null;
  /** What the schema gave where there is no target, else null. */
  readonly viewId: string | null;
  /** Place inside the view: `.author`, `.related[1]`. */
  readonly path: string;
}

/** A view as stored: UTF-8 JSON text cut at its references; `texts` is one longer than `references`. */
export interface StoredBody {
  readonly texts: readonly Buffer[];
  readonly references: readonly StoredReference[];
}

/** One claim on a URL path or a handle, as kept under its key. */
export interface Claim {
  /** Host of an absolute route, lower-cased; null for a relative route and for handles. */
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  /** Stamp since which the entity has made this claim (microseconds). */
  readonly sinceStamp: number;
  readonly view: EntityRef & { readonly alias: string };
  /** The URL or handle as the view wrote it. */
  readonly display: string;
  /** URL that a redirect goes to; null for a page. */
  readonly redirect: string | null;
}

export interface RouteEntry {
  readonly url: string;
  readonly redirect: string | null;
  readonly updatedAtMs: number;
}

/** An index item as stored, by index name (`indexName`, `autoIndexName` in keys). */
export interface StoredItem extends EntityRef {
  readonly updatedAtMs: number;
  readonly fields: JsonObject;
  /** JSON text of the fields, where somebody has it already. */
  readonly fieldsText?: string;
  /** The types that all fields are known to fit: those of an index, as its configuration has them. */
  readonly fittedTo?: ReadonlyMap<string, string>;
}

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

export type { EntityRef, ViewRef };
