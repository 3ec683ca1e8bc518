/**
 * The stored form of a view's body without member names, for views whose names many others share (`codec/name-lists.ts`).
 * Readers first restore the names, which results in exactly the output of `encodeBody`.
 */
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  endOfText,
  endOfValue,
  keysOf,
  openBrace,
  openBracket,
  quote,
} from '../codec/json-values.ts';
import { listDigestBytes, type NameList, sharedListOfText } from '../codec/name-lists.ts';
import { textsPlace } from './stored-body.ts';

/**
 * First byte, which other bodies do not have (`stored-body.ts`). The digest of the name list follows, then the body with its
 * values as a list: `["Rome",2800000]` for `{"name":"Rome","population":2800000}`. Its header still has the lengths of the
 * texts including names.
 */
const nameless = 3;
const bodyAt = 1 + listDigestBytes;

/** Maximum size of a body without names; in larger ones, names are a small part. */
const bodyBytesMax = 4_096;

/** A body without names. */
export interface NamelessBody {
  readonly stored: Buffer;
  /** Must be stored with it. */
  readonly list: NameList;
}

/** Null for a body that keeps its names. Counts the view. @param body from `encodeBody` */
export function withoutNames(body: Buffer): NamelessBody | null {
  const cut = cutNames(body);
  const list = cut && sharedListOfText(cut.namesText);
  return list && { stored: Buffer.concat([Buffer.of(nameless), list.digest, cut.body]), list };
}

/** Digest of the list of names that a stored body omits; null: none. */
export function namesDigestOfBody(stored: Buffer): Buffer | null {
  return stored[0] === nameless ? stored.subarray(1, bodyAt) : null;
}

/**
 * @returns the body as from `encodeBody`
 * @param names that it omits
 */
export function withNames(stored: Buffer, names: readonly string[]): Buffer {
  const keys = keysOf(names);
  let length = stored.length - bodyAt;
  for (const key of keys) length += key.length;
  const body = Buffer.allocUnsafe(length);
  let at = bodyAt + textsPlace(stored, bodyAt);
  let to = copied(stored, bodyAt, at, body, 0);
  for (const key of keys) {
    // A bracket before the first value, commas before the others.
    body[to] = stored[at] === comma ? comma : openBrace;
    to = copied(key, 0, key.length, body, to + 1);
    const end = endOfValue(stored, at + 1);
    to = copied(stored, at + 1, end, body, to);
    at = end;
  }
  body[to] = closeBrace;
  return body;
}

/** A buffer for the names of a body. */
const namesBytes = Buffer.allocUnsafeSlow(bodyBytesMax);

interface CutBody {
  /** JSON text of the names. */
  readonly namesText: string;
  /** The rest of the body. */
  readonly body: Buffer;
}

/** Null if the body is not an object, has no members, or is large. */
function cutNames(body: Buffer): CutBody | null {
  if (body.length > bodyBytesMax) return null;
  let at = textsPlace(body);
  if (body[at] !== openBrace || body[at + 1] !== quote) return null;
  const cut = Buffer.allocUnsafe(body.length);
  let to = body.copy(cut, 0, 0, at);
  let namesEnd = 0;
  while (body[at] !== closeBrace) {
    const separator = body[at] === comma ? comma : openBracket;
    const nameEnd = endOfText(body, at + 1);
    if (body[nameEnd + 1] !== colon) return null;
    namesBytes[namesEnd] = separator;
    namesEnd = copied(body, at + 1, nameEnd + 1, namesBytes, namesEnd + 1);
    const end = endOfValue(body, nameEnd + 2);
    cut[to] = separator;
    to = copied(body, nameEnd + 2, end, cut, to + 1);
    at = end;
  }
  if (at !== body.length - 1) return null;
  namesBytes[namesEnd] = closeBracket;
  cut[to] = closeBracket;
  return { namesText: namesBytes.toString('utf8', 0, namesEnd + 1), body: cut.subarray(0, to + 1) };
}

/** Copies bytes with a loop, which is faster than `copy` for few bytes. @returns the offset after them */
function copied(from: Buffer, start: number, end: number, into: Buffer, at: number): number {
  const shift = at - start;
  for (let byte = start; byte < end; byte += 1) into[byte + shift] = from[byte] ?? 0;
  return end + shift;
}
