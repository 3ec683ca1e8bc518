/** The record of a source entity: hashing, encoding and decoding. */
import { hash, randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { SourceEntity, StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { canonicalJson, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { parseInParts } from '../../contract/large-json/parse-in-parts.ts';
import { type NameList, nameListOf } from '../codec/name-lists.ts';
import { pack, unpack } from '../codec/pack.ts';

/** A source entity prepared for the store: hashed and encoded once (see `encodeEntity`). */
export interface EncodedEntity {
  readonly originId: string;
  readonly type: string;
  /** 16 bytes. Covers everything that makes an entity count as changed; independent of the order of object keys. */
  readonly contentHash: Buffer;
  /** Approximate encoded size in bytes, for the limits of a call. */
  readonly size: number;
  /** The record to store, encoded on the first call. Unchanged entities are never encoded. */
  encode(): EncodedRecord;
}

/** The stored form of an entity. */
export interface EncodedRecord {
  /** The record after the stamps: type, url and everything else. */
  readonly body: Buffer;
  /** Names that the body leaves out, must be stored with it; null: none. */
  readonly names: NameList | null;
}

type EntityBody = [
  originParentId: string | null,
  redirects: readonly string[],
  /** The properties, or the list of their values if there is a `namesDigest`. */
  propertiesJson: string,
  namesDigest?: Uint8Array | null,
  /** Both are absent for an entity that is always published, which most are. */
  publishAt?: number | null,
  unpublishAt?: number | null,
];

/** Size of the length prefix of type and url, which precede the body. */
const lengthBytes = 2;

/** Hashes an entity; the result encodes it at most once. */
export function encodeEntity(entity: SourceEntity): EncodedEntity {
  const { type, url, originParentId, redirects, properties, times } = entity;
  const ofTimes = times === undefined ? [] : [times.publishAt, times.unpublishAt];
  const identity = canonicalJson([type, url, originParentId, [...redirects], properties, ...ofTimes]);
  return new HashedEntity(entity, hash('sha256', identity, 'buffer').subarray(0, 16), identity.length);
}

class HashedEntity implements EncodedEntity {
  readonly originId: string;
  readonly type: string;
  /** Encoding drops the reference to the entity, because the bytes need a fraction of its memory. */
  #state: { readonly entity: SourceEntity } | { readonly record: EncodedRecord };

  constructor(
    entity: SourceEntity,
    readonly contentHash: Buffer,
    readonly size: number,
  ) {
    this.originId = entity.originId;
    this.type = entity.type;
    this.#state = { entity };
  }

  encode(): EncodedRecord {
    if ('record' in this.#state) return this.#state.record;
    const record = encodeRecord(this.#state.entity);
    this.#state = { record };
    return record;
  }
}

function encodeRecord(entity: SourceEntity): EncodedRecord {
  const { type, url, originParentId, redirects, properties, times } = entity;
  const names = nameListOf(properties);
  const body: EntityBody =
    names === null
      ? [originParentId, redirects, JSON.stringify(properties)]
      : [originParentId, redirects, JSON.stringify(Object.values(properties)), names.digest];
  if (times !== undefined) body.splice(3, 3, names?.digest ?? null, times.publishAt, times.unpublishAt);
  return {
    body: Buffer.concat([packText(type), packText(url === null ? '' : urlMark + url), pack(body)]),
    names,
  };
}

/** Precedes a url, to distinguish an empty one from none. */
const urlMark = '=';

function packText(text: string): Buffer {
  const packed = Buffer.from(`\0\0${text}`);
  packed.writeUInt16BE(packed.length - lengthBytes);
  return packed;
}

/** A record that is decoded except for its properties. */
export interface OpenRecord {
  readonly stamps: Pick<StoredEntity, 'stamp' | 'bornStamp' | 'urlStamp'>;
  readonly type: string;
  readonly url: string | null;
  readonly body: EntityBody;
  /** Digest of the names that it leaves out; null: none. */
  readonly namesDigest: Uint8Array | null;
}

/** @param record from Redis: head, then the body from `encode` */
export function openRecord(record: Buffer): OpenRecord {
  const { stamps, typeAt } = readStamps(record);
  const urlAt = textEnd(record, typeAt);
  const bodyAt = textEnd(record, urlAt);
  const body = unpack<EntityBody>(record.subarray(bodyAt));
  const urlTextAt = urlAt + lengthBytes;
  return {
    stamps,
    type: record.toString('utf8', typeAt + lengthBytes, urlAt),
    url: urlTextAt === bodyAt ? null : record.toString('utf8', urlTextAt + urlMark.length, bodyAt),
    body,
    namesDigest: body[3] ?? null,
  };
}

/** Where the text at `at` ends. It begins with its length. */
function textEnd(record: Buffer, at: number): number {
  return at + lengthBytes + record.readUInt16BE(at);
}

/** @param names left out of the record; null: none */
export function decodeEntity(
  ref: EntityRef,
  record: OpenRecord,
  names: readonly string[] | null,
): StoredEntity {
  return entityOf(ref, record, propertiesOf(JSON.parse(record.body[2]) as Json, names));
}

/** Like `decodeEntity`, but in steps, for large records. */
export function* decodeInParts(
  ref: EntityRef,
  record: OpenRecord,
  names: readonly string[] | null,
): Generator<undefined, StoredEntity, undefined> {
  const properties = propertiesOf(yield* parseInParts(record.body[2]), names);
  return { ...entityOf(ref, record, properties), isLarge: true };
}

/** @param json the properties, or the list of their values if there are names */
function propertiesOf(json: Json, names: readonly string[] | null): JsonObject {
  if (names === null) return json as JsonObject;
  const values = json as Json[];
  const properties: JsonObject = {};
  for (let at = 0; at < names.length; at += 1) setOwn(properties, names[at] ?? '', values[at] ?? null);
  return properties;
}

function entityOf(
  { sourceId, originId }: EntityRef,
  { stamps, type, url, body }: OpenRecord,
  properties: JsonObject,
): StoredEntity {
  const [originParentId, redirects, , , publishAt = null, unpublishAt = null] = body;
  const times = publishAt === null && unpublishAt === null ? {} : { times: { publishAt, unpublishAt } };
  return { sourceId, originId, type, url, originParentId, redirects, properties, ...times, ...stamps };
}

/** `performance` does not follow changes of the system clock. If the two clocks differ by more than this, use `Date`. */
const apartMs = 2;

let lastStamp = 0;

/** Microseconds since 1970, increasing with every call: of two writes of one front, the later has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Math.floor(1000 * fineNowMs()));
  return lastStamp;
}

/** More precise than a millisecond, because two fronts on a machine can accept successive writes within one. */
function fineNowMs(): number {
  const [fineMs, dateMs] = [performance.timeOrigin + performance.now(), Date.now()];
  return Math.abs(fineMs - dateMs) < apartMs ? fineMs : dateMs;
}

const tokenBytes = 8;
const tokenAt = 16;
/** Offset of the number of stamps, which the stamps follow. */
const stampsAt = tokenAt + tokenBytes;
const stampBytes = 8;

/** What a head is made of (see `scripts/parts/entity-heads.lua`). Type, url and body follow it. */
interface Hashed {
  readonly contentHash: Buffer;
}

type Stamps = Pick<StoredEntity, 'stamp' | 'bornStamp' | 'urlStamp'>;

/**
 * Heads for the entities of one request. Stamps increase in the order of the request, across partitions. So the later of two
 * claims in a request has the later stamp.
 */
export function recordHeadsOf(entities: readonly Hashed[]): Buffer[] {
  const token = randomBytes(tokenBytes);
  const all = Buffer.allocUnsafe(headBytes(1) * entities.length);
  return entities.map(({ contentHash }, index) => {
    const head = all.subarray(index * headBytes(1), (index + 1) * headBytes(1));
    return writeHead(head, contentHash, token, [nextStamp()]);
  });
}

/** Never used by a call that accepts entities. */
const noToken = Buffer.alloc(tokenBytes);

/** The head of a restored entity with its original stamps. */
export function restoredHead({ contentHash }: Hashed, stamps: Stamps): Buffer {
  const written = writtenStamps(stamps);
  return writeHead(Buffer.alloc(headBytes(written.length)), contentHash, noToken, written);
}

/** Leaves out the last stamps if they equal the ones before them. */
function writtenStamps({ stamp, bornStamp, urlStamp }: Stamps): number[] {
  if (urlStamp !== bornStamp) return [stamp, bornStamp, urlStamp];
  return bornStamp === stamp ? [stamp] : [stamp, bornStamp];
}

/** @param stamps number of stamps in the head */
function headBytes(stamps: number): number {
  return stampsAt + 1 + stamps * stampBytes;
}

function writeHead(head: Buffer, contentHash: Buffer, token: Buffer, stamps: readonly number[]): Buffer {
  contentHash.copy(head, 0);
  token.copy(head, tokenAt);
  head[stampsAt] = stamps.length;
  for (const [at, stamp] of stamps.entries()) head.writeDoubleBE(stamp, headBytes(at));
  return head;
}

/** The stamps of a record, and the offset of its type. */
export function readStamps(record: Buffer): { readonly stamps: Stamps; readonly typeAt: number } {
  const count = record[stampsAt] ?? 0;
  const stamp = record.readDoubleBE(headBytes(0));
  const bornStamp = count > 1 ? record.readDoubleBE(headBytes(1)) : stamp;
  const urlStamp = count > 2 ? record.readDoubleBE(headBytes(2)) : bornStamp;
  return { stamps: { stamp, bornStamp, urlStamp }, typeAt: headBytes(count) };
}
