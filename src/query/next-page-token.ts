/**
 * `nextPageToken`: the place of the last row of a page, signed. The next page goes on behind that row, whatever came
 * and went in between. A token holds for one query only: same tenant, environment, index, filters, search,
 * sort and `distinct`.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { smallBodyBytesMax } from '../contract/limits.ts';
import { queryIdentity } from '../search/check/query.ts';
import type { CheckedQuery } from '../search/checked-query.ts';
import type { RowPlace } from '../search/shard-answer.ts';
import type { ScopedIndex } from '../store/derived/items.ts';

const macBytes = 16;
/** Places from this size on are compressed. */
const deflateBytesMin = 512;
/** A request could not carry more. It also bounds what a hostile token can make us unpack. */
const placeBytesMax = 8 * smallBodyBytesMax;

/** The first character of what is sealed. */
const [plainPlace, deflatedPlace] = ['\0', '\x01'] as const;

/** The query to which a token is bound. */
export interface TokenUse extends ScopedIndex {
  /** From `queryIdentity`. */
  readonly identity: string;
}

/** The use of the tokens in answers to a query. */
export function tokenUse({ scope, index }: ScopedIndex, query: CheckedQuery): TokenUse {
  return { scope, index, identity: queryIdentity(query) };
}

/** A token for a place: text of `A-Za-z0-9_-`. */
export function sealToken(secret: KeyObject, use: TokenUse, place: RowPlace): string {
  const payload = encodePlace(place);
  return Buffer.concat([sign(secret, use, payload), payload]).toString('base64url');
}

/** The place of a token; null when we did not write the token, or wrote it for another use. */
export function openToken(secret: KeyObject, use: TokenUse, token: string): RowPlace | null {
  if (!/^[\w-]+$/.test(token)) return null;
  const sealed = Buffer.from(token, 'base64url');
  // We write each token in one form. Another text of the same bytes is not ours.
  if (sealed.length <= macBytes || sealed.toString('base64url') !== token) return null;
  const payload = sealed.subarray(macBytes);
  if (!timingSafeEqual(sealed.subarray(0, macBytes), sign(secret, use, payload))) return null;
  return decodePlace(payload);
}

function sign(secret: KeyObject, { scope, index, identity }: TokenUse, payload: Buffer): Buffer {
  const use = JSON.stringify(['nextPageToken', scope.tenant, scope.environmentId, index, identity]);
  return createHmac('sha256', secret).update(use).update(payload).digest().subarray(0, macBytes);
}

function encodePlace({ values, originId, sourceId }: RowPlace): Buffer {
  const payload = Buffer.from(`${plainPlace}${JSON.stringify([values, originId, sourceId])}`);
  if (payload.length <= deflateBytesMin) return payload;
  return Buffer.concat([Buffer.from(deflatedPlace), deflateRawSync(payload.subarray(plainPlace.length))]);
}

function decodePlace(payload: Buffer): RowPlace | null {
  try {
    const body = payload.subarray(1);
    const isPlain = payload[0] === plainPlace.charCodeAt(0);
    const text = isPlain ? body : inflateRawSync(body, { maxOutputLength: placeBytesMax });
    const [values, originId, sourceId] = JSON.parse(text.toString()) as [RowPlace['values'], string, string];
    return { values, originId, sourceId };
  } catch {
    return null;
  }
}
