/** The stored form of an index item. */
import type { EntityRef } from '../../contract/ids.ts';
import { type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { parseInParts } from '../../contract/large-json/parse-in-parts.ts';
import { closeBrace, closeBracket, comma, endOfValue, keysOf, openBrace } from '../codec/json-values.ts';
import { listDigestBytes, type NameList } from '../codec/name-lists.ts';

/** An index item as stored, under its index name (`indexName` in `keys.ts`). */
export interface StoredItem extends EntityRef {
  readonly updatedAtMs: number;
  readonly fields: JsonObject;
  /** JSON text of the fields, if the builder has it already. */
  readonly fieldsText?: string;
  /** The configured field types of the index that all fields are known to fit. */
  readonly fittedTo?: ReadonlyMap<string, string>;
}

/** An item as Redis has it. */
export interface EncodedItem extends EntityRef {
  readonly stored: Buffer;
  /** The names that it omits; null: none. */
  readonly names: readonly string[] | null;
}

/**
 * First byte of an item without names. The digest of their list follows, then the time of change (milliseconds, 6 bytes,
 * big-endian), then the values as a JSON array.
 */
const withoutNames = 1;
const timeAt = 1 + listDigestBytes;
const timeBytes = 6;
const valuesAt = timeAt + timeBytes;
/** Maximum length of an item's text without names; in longer ones, names are a small part. */
const listedCharactersMax = 4_096;

/**
 * The stored form: JSON text, which preserves `__proto__`, lone surrogates and long numbers sent as strings. It omits the names
 * if they are in the list, in the same order; null replaces a missing field. Equal items with members in the same order result
 * in equal bytes; the order is kept so that responses have the order of the build.
 * @param list list of the index; null: the names are kept
 */
export function encodeItem(
  {
    updatedAtMs,
    fields,
    fieldsText = JSON.stringify(fields),
  }: Pick<StoredItem, 'updatedAtMs' | 'fields' | 'fieldsText'>,
  list: NameList | null = null,
): Buffer {
  const values =
    list === null || fieldsText.length > listedCharactersMax ? null : valuesOf(fields, list.names);
  if (list === null || values === null) return Buffer.from(`[${updatedAtMs},${fieldsText}]`);
  const text = JSON.stringify(values);
  const stored = Buffer.allocUnsafe(valuesAt + Buffer.byteLength(text));
  stored[0] = withoutNames;
  list.digest.copy(stored, 1);
  stored.writeUIntBE(updatedAtMs, timeAt, timeBytes);
  stored.write(text, valuesAt);
  return stored;
}

/** The values of an item, one for each name; null if it has other names or another order. */
function valuesOf(fields: JsonObject, names: readonly string[]): Json[] | null {
  const values: Json[] = [];
  for (const name of Object.keys(fields)) {
    const at = names.indexOf(name, values.length);
    const value = fields[name] ?? null;
    if (at < 0 || value === null) return null;
    while (values.length < at) values.push(null);
    values.push(value);
  }
  return values;
}

/** Digest of the list of names that an item omits; null: none. */
export function namesDigestOf(stored: Buffer): Buffer | null {
  return stored[0] === withoutNames ? stored.subarray(1, timeAt) : null;
}

/** @param names names that it omits; null: none */
export function decodeItem(
  ref: EntityRef,
  stored: Buffer,
  names: readonly string[] | null = null,
): StoredItem {
  if (names === null) return itemOf(ref, JSON.parse(stored.toString()) as [number, JsonObject]);
  const values = JSON.parse(stored.toString('utf8', valuesAt)) as Json[];
  const fields: JsonObject = {};
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? null;
    if (value !== null) setOwn(fields, names[at] ?? '', value);
  }
  return itemOf(ref, [timeOf(stored), fields]);
}

/** The time of change of an item without names. */
function timeOf(stored: Buffer): number {
  return stored.readUIntBE(timeAt, timeBytes);
}

function itemOf({ sourceId, originId }: EntityRef, [updatedAtMs, fields]: [number, JsonObject]): StoredItem {
  return { sourceId, originId, updatedAtMs, fields };
}

/** Like `decodeItem`, in steps, for a large item, which always has its names. */
export function* decodeInParts(ref: EntityRef, stored: Buffer): Generator<undefined, StoredItem, undefined> {
  return itemOf(ref, (yield* parseInParts(stored.toString())) as [number, JsonObject]);
}

const zero = 0x30;
const nine = 0x39;
const nullStart = 0x6e;
const nullLength = 4;

/**
 * The time of change of an item, if its fields have this JSON text. It compares bytes without parsing, so it only works for
 * texts from `JSON.stringify`.
 * @param fieldsText in UTF-8
 * @returns null if the fields differ, or may differ
 */
export function updatedAtIfSame({ stored, names }: EncodedItem, fieldsText: Buffer): number | null {
  if (names !== null) return areFields(stored, names, fieldsText) ? timeOf(stored) : null;
  const end = stored.indexOf(comma);
  const updatedAtMs = wholeNumberIn(stored, 1, end);
  if (updatedAtMs === null) return null;
  const isSame = stored.compare(fieldsText, 0, fieldsText.length, end + 1, stored.length - 1) === 0;
  return isSame ? updatedAtMs : null;
}

/** Null unless all bytes are digits. */
function wholeNumberIn(bytes: Buffer, from: number, end: number): number | null {
  let number = 0;
  for (let at = from; at < end; at += 1) {
    const digit = bytes[at] ?? 0;
    if (digit < zero || digit > nine) return null;
    number = number * 10 + digit - zero;
  }
  return from < end ? number : null;
}

/** True if the values of an item with its names equal the text. */
function areFields(stored: Buffer, names: readonly string[], text: Buffer): boolean {
  // An item without fields has empty brackets.
  let at = stored[valuesAt + 1] === closeBracket ? valuesAt + 1 : valuesAt;
  let to = 1;
  for (const key of keysOf(names)) {
    // Missing fields at the end are omitted.
    if (stored[at] === closeBracket) break;
    at += 1;
    if (stored[at] === nullStart) {
      at += nullLength;
      continue;
    }
    if (to > 1) {
      if (text[to] !== comma) return false;
      to += 1;
    }
    if (!isAt(text, to, key, 0, key.length)) return false;
    to += key.length;
    const end = endOfValue(stored, at);
    if (!isAt(text, to, stored, at, end)) return false;
    to += end - at;
    at = end;
  }
  const isAtEnds = at === stored.length - 1 && to === text.length - 1;
  return isAtEnds && stored[at] === closeBracket && text[0] === openBrace && text[to] === closeBrace;
}

/** True if a text contains a range of another one at an offset. A loop is faster than `compare` for few bytes. */
function isAt(text: Buffer, place: number, other: Buffer, from: number, end: number): boolean {
  const shift = place - from;
  for (let at = from; at < end; at += 1) if (text[at + shift] !== other[at]) return false;
  return true;
}
