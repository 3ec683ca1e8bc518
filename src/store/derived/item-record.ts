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
  /** JSON text of the fields, when the builder has it already. */
  readonly fieldsText?: string;
  /** The types that all fields are known to fit: those of an index, as its configuration has them. */
  readonly fittedTo?: ReadonlyMap<string, string>;
}

/** An item as Redis has it. */
export interface EncodedItem extends EntityRef {
  readonly stored: Buffer;
  /** The names that it leaves out; null: none. */
  readonly names: readonly string[] | null;
}

/**
 * First byte of an item that leaves its names out. The digest of their list follows, then its time of change (milliseconds, 6
 * bytes, big-endian), then the values as the JSON text of a list.
 */
const withoutNames = 1;
const timeAt = 1 + listDigestBytes;
const timeBytes = 6;
const valuesAt = timeAt + timeBytes;
/** Of a text; longer ones keep their names, which are little of them. */
const listedCharactersMax = 4_096;

/**
 * The stored form: JSON text, in which `__proto__`, lone surrogates and long numbers sent as text survive. It leaves the names
 * out where they are among those of the list, in its order; a null stands for a field that the item does not have.
 * Equal items with members in equal order give equal bytes; the order is kept so that answers look as built.
 * @param list of the index; null: the names are kept
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

/** The values of an item, one for each of the names; null when other names are among its own, or theirs in another order. */
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

/** Digest of the list of names that an item leaves out; null: none. */
export function namesDigestOf(stored: Buffer): Buffer | null {
  return stored[0] === withoutNames ? stored.subarray(1, timeAt) : null;
}

/** @param names that it leaves out; null: none */
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

/** Of an item that leaves its names out. */
function timeOf(stored: Buffer): number {
  return stored.readUIntBE(timeAt, timeBytes);
}

function itemOf({ sourceId, originId }: EntityRef, [updatedAtMs, fields]: [number, JsonObject]): StoredItem {
  return { sourceId, originId, updatedAtMs, fields };
}

/** As `decodeItem`, in steps: for a large item, which has its names. */
export function* decodeInParts(ref: EntityRef, stored: Buffer): Generator<undefined, StoredItem, undefined> {
  return itemOf(ref, (yield* parseInParts(stored.toString())) as [number, JsonObject]);
}

const zero = 0x30;
const nine = 0x39;
const nullStart = 0x6e;
const nullLength = 4;

/**
 * The time of change of an item whose fields have just this JSON text. It compares bytes and parses nothing, so it knows only
 * texts that `JSON.stringify` has written.
 * @param fieldsText in UTF-8 @returns null when the fields are others, or may be
 */
export function updatedAtIfSame({ stored, names }: EncodedItem, fieldsText: Buffer): number | null {
  if (names !== null) return areFields(stored, names, fieldsText) ? timeOf(stored) : null;
  const end = stored.indexOf(comma);
  const updatedAtMs = wholeNumberIn(stored, 1, end);
  if (updatedAtMs === null) return null;
  const isSame = stored.compare(fieldsText, 0, fieldsText.length, end + 1, stored.length - 1) === 0;
  return isSame ? updatedAtMs : null;
}

/** Null unless there are digits alone. */
function wholeNumberIn(bytes: Buffer, from: number, end: number): number | null {
  let number = 0;
  for (let at = from; at < end; at += 1) {
    const digit = bytes[at] ?? 0;
    if (digit < zero || digit > nine) return null;
    number = number * 10 + digit - zero;
  }
  return from < end ? number : null;
}

/** True when the values of an item, with the names that it leaves out, make the text. */
function areFields(stored: Buffer, names: readonly string[], text: Buffer): boolean {
  // The brackets of an item without fields are empty.
  let at = stored[valuesAt + 1] === closeBracket ? valuesAt + 1 : valuesAt;
  let to = 1;
  for (const key of keysOf(names)) {
    // Missing fields at the end are left out.
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

/** True when a text has some bytes of another one at a place. They are few: a loop takes less than a call of `compare`. */
function isAt(text: Buffer, place: number, other: Buffer, from: number, end: number): boolean {
  const shift = place - from;
  for (let at = from; at < end; at += 1) if (text[at + shift] !== other[at]) return false;
  return true;
}
