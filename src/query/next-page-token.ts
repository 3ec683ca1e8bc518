/**
 * `nextPageToken`: the signed place of the last row of a page. The next page continues after that row, whatever was added or
 * removed in between. To keep the order, the token of a search contains the statistics by which the first page was scored. A
 * token is valid for one query only: same tenant, environment, index, filters, search, sort and `distinct`.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { smallBodyBytesMax } from '../contract/limits.ts';
import { queryIdentity } from '../search/check/query.ts';
import type { CheckedQuery } from '../search/checked-query.ts';
import { type FieldTable, meaningOf, type ValueKind } from '../search/fields/field-type.ts';
import { type PackedStats, packStats, type SearchStats, unpackStats } from '../search/search-stats.ts';
import type { RowPlace } from '../search/shard-answer.ts';
import type { ScopedIndex } from '../store/derived/items.ts';

const macBytes = 16;
/** Larger places are compressed. */
const deflateBytesMin = 512;
/** Bounds the decompressed size of a hostile token. */
const placeBytesMax = 8 * smallBodyBytesMax;

/** The first character of the payload. */
const [plainPlace, deflatedPlace] = ['\0', '\x01'] as const;

/** The query to which a token is bound. */
export interface TokenUse extends ScopedIndex {
  /** From `queryIdentity`. */
  readonly identity: string;
}

/** The use of the tokens of a query. */
export function tokenUse({ scope, index }: ScopedIndex, query: CheckedQuery): TokenUse {
  return { scope, index, identity: queryIdentity(query) };
}

/** The statistics and the time by which all pages of a search are scored. */
export interface Pin {
  readonly stats: SearchStats;
  /** See `CheckedSearch`. */
  readonly nowMs: number | null;
}

/** A place, and the pin of its search; null without a search. */
export interface PagePlace {
  readonly place: RowPlace;
  readonly pin: Pin | null;
}

/**
 * Whether a place is among the values that the items are sorted by now. It is not if a sorted field has got another type since
 * the token was written: a date field can become text.
 */
export function isPlaceAmong(table: FieldTable, { sort }: CheckedQuery, { place }: PagePlace): boolean {
  return sort.every(({ field, near }, at) => {
    const value = place.values[at] ?? null;
    const meaning = meaningOf(table, field);
    const isAnyPlace = value === null || near !== undefined || meaning.kind !== 'field';
    return isAnyPlace || typeof value === placeTypeOf(meaning.traits.kind);
  });
}

/** As orders of columns give them: a long is a text of digits. */
function placeTypeOf(kind: ValueKind): 'string' | 'boolean' | 'number' {
  if (kind === 'text' || kind === 'long') return 'string';
  return kind === 'boolean' ? 'boolean' : 'number';
}

/** @param stats statistics by which a page of the query was scored */
export function pinOf({ search }: CheckedQuery, stats: SearchStats | null): Pin | null {
  return search === null || stats === null ? null : { stats, nowMs: search.nowMs };
}

/** The query of the page after a place. */
export function pinnedQuery(query: CheckedQuery, { place, pin }: PagePlace): CheckedQuery {
  const { search } = query;
  return { ...query, after: place, search: search && pin && { ...search, ...pin } };
}

/** A token for a place, of the characters `A-Za-z0-9_-`. */
export function sealToken(secret: KeyObject, use: TokenUse, place: RowPlace, pin: Pin | null): string {
  const payload = encodePlace({ place, pin });
  return Buffer.concat([sign(secret, use, payload), payload]).toString('base64url');
}

/** The place of a token; null if the token is not authentic, or was issued for another use. */
export function openToken(secret: KeyObject, use: TokenUse, token: string): PagePlace | null {
  if (!/^[\w-]+$/.test(token)) return null;
  const sealed = Buffer.from(token, 'base64url');
  // Rejects other base64 encodings of the same bytes.
  if (sealed.length <= macBytes || sealed.toString('base64url') !== token) return null;
  const payload = sealed.subarray(macBytes);
  if (!timingSafeEqual(sealed.subarray(0, macBytes), sign(secret, use, payload))) return null;
  return decodePlace(payload);
}

function sign(secret: KeyObject, { scope, index, identity }: TokenUse, payload: Buffer): Buffer {
  const use = JSON.stringify(['nextPageToken', scope.tenant, scope.environmentId, index, identity]);
  return createHmac('sha256', secret).update(use).update(payload).digest().subarray(0, macBytes);
}

type Packed = [
  values: RowPlace['values'],
  originId: string,
  sourceId: string,
  pin?: [stats: PackedStats, nowMs: number | null],
];

function encodePlace({ place: { values, originId, sourceId }, pin }: PagePlace): Buffer {
  const packed: Packed = [values, originId, sourceId];
  if (pin !== null) packed[3] = [packStats(pin.stats), pin.nowMs];
  const payload = Buffer.from(`${plainPlace}${JSON.stringify(packed)}`);
  if (payload.length <= deflateBytesMin) return payload;
  return Buffer.concat([Buffer.from(deflatedPlace), deflateRawSync(payload.subarray(plainPlace.length))]);
}

function decodePlace(payload: Buffer): PagePlace | null {
  try {
    const body = payload.subarray(1);
    const isPlain = payload[0] === plainPlace.charCodeAt(0);
    const text = isPlain ? body : inflateRawSync(body, { maxOutputLength: placeBytesMax });
    const [values, originId, sourceId, pinned] = JSON.parse(text.toString()) as Packed;
    const place = { values, originId, sourceId };
    if (pinned === undefined) return { place, pin: null };
    const [stats, nowMs] = pinned;
    return { place, pin: { stats: unpackStats(stats), nowMs } };
  } catch {
    return null;
  }
}
