/** The record of a source entity: what of it is hashed, encoded and stored, and how it is read back. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { SourceEntity, StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { parseInParts } from '../../contract/large-json/parse-in-parts.ts';
import { digestOf } from '../codec/digest.ts';
import { pack, unpack } from '../codec/pack.ts';

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
  /** The stored bytes. They are made at the first call, and never for an entity that is stored already as it is. */
  encode(): Buffer;
}

type EntityRecord = [
  type: string,
  url: string | null,
  originParentId: string | null,
  redirects: readonly string[],
  propertiesJson: string,
];

/** Bytes of an entity record; see `scripts/entities/accept.lua`. */
const bornStampAt = 8;

const urlStampAt = 16;

const bodyAt = 24;

/** Hashes an entity, and encodes it once for its whole way into the store. */
export function encodeEntity(entity: SourceEntity): EncodedEntity {
  const { type, url, originParentId, redirects, properties } = entity;
  const identity = canonicalJson([type, url, originParentId, [...redirects], properties]);
  return new HashedEntity(entity, hash('sha256', identity, 'buffer').subarray(0, 16), identity.length);
}

class HashedEntity implements EncodedEntity {
  readonly originId: string;
  readonly type: string;
  readonly urlHash: Buffer;
  /** The entity is let go when it is encoded: its bytes take a fraction of the memory. */
  #state: { readonly entity: SourceEntity } | { readonly body: Buffer };

  constructor(
    entity: SourceEntity,
    readonly contentHash: Buffer,
    readonly size: number,
  ) {
    this.originId = entity.originId;
    this.type = entity.type;
    this.urlHash = digestOf(entity.url ?? '');
    this.#state = { entity };
  }

  encode(): Buffer {
    if ('body' in this.#state) return this.#state.body;
    const body = encodeBody(this.#state.entity);
    this.#state = { body };
    return body;
  }
}

function encodeBody({ type, url, originParentId, redirects, properties }: SourceEntity): Buffer {
  const record: EntityRecord = [type, url, originParentId, redirects, JSON.stringify(properties)];
  return pack(record);
}

/** The stamps of an entity as scripts keep them: three big-endian doubles. */
export function packStamps({ stamp, bornStamp, urlStamp }: StoredEntity): Buffer {
  const packed = Buffer.alloc(bodyAt);
  packed.writeDoubleBE(stamp, 0);
  packed.writeDoubleBE(bornStamp, bornStampAt);
  packed.writeDoubleBE(urlStamp, urlStampAt);
  return packed;
}

/** @param record as Redis has it: three stamps, then what `encode` gave */
export function decodeEntity(sourceId: string, originId: string, record: Buffer): StoredEntity {
  const fields = unpack<EntityRecord>(record.subarray(bodyAt));
  return entityOf({ sourceId, originId }, record, fields, JSON.parse(fields[4]) as JsonObject);
}

/** As `decodeEntity`, in steps: for a large record. */
export function* decodeInParts(
  sourceId: string,
  originId: string,
  record: Buffer,
): Generator<undefined, StoredEntity, undefined> {
  const fields = unpack<EntityRecord>(record.subarray(bodyAt));
  yield;
  const properties = (yield* parseInParts(fields[4])) as JsonObject;
  return { ...entityOf({ sourceId, originId }, record, fields, properties), isLarge: true };
}

function entityOf(
  { sourceId, originId }: EntityRef,
  record: Buffer,
  [type, url, originParentId, redirects]: EntityRecord,
  properties: JsonObject,
): StoredEntity {
  return {
    sourceId,
    originId,
    type,
    url,
    originParentId,
    redirects,
    properties,
    stamp: record.readDoubleBE(0),
    bornStamp: record.readDoubleBE(bornStampAt),
    urlStamp: record.readDoubleBE(urlStampAt),
  };
}
