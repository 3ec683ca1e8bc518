/** A row as clients get it: JSON text in UTF-8 with the built-in fields first, copied from the shard to the answer. */
import { builtInFields } from '../contract/built-in-fields.ts';
import type { JsonObject } from '../contract/json.ts';
import { isoBytesMax, writeIsoText } from './iso-text.ts';
import { asciiBytes, unitBytesMax, writeAscii, writeBytes, writeJsonText } from './json-bytes.ts';

/** A row before it is written. */
export interface RowParts {
  readonly originId: string;
  readonly sourceId: string;
  readonly updatedAtMs: number;
  /** Null where the answer has none, which is so of auto-indexed source groups. */
  readonly score: number | null;
  /** JSON text of the item's fields, an object of their own. */
  readonly fieldsText: Buffer;
}

/** Rows of an index have a score, those of an auto-indexed source group have none. */
export function isScored(index: string): boolean {
  return !index.startsWith('auto:');
}

const originIdName = asciiBytes('{"_originId":');
const sourceGuidName = asciiBytes(',"_sourceGuid":');
const updatedAtName = asciiBytes(',"_updatedAt":"');
const behindTime = asciiBytes('"');
const scoreName = asciiBytes('","_score":');
const quotesOfIds = 4;
const numberBytesMax = String(-Number.MAX_VALUE).length;
/** Of a head beside what its ids say. */
const headBytesMin =
  originIdName.length +
  sourceGuidName.length +
  updatedAtName.length +
  scoreName.length +
  quotesOfIds +
  isoBytesMax +
  numberBytesMax;

/** A row takes no more, and need not be written to know that. */
export function rowBytesMax({ originId, sourceId, fieldsText }: RowParts): number {
  return headBytesMax(originId, sourceId) + fieldsText.length;
}

function headBytesMax(originId: string, sourceId: string): number {
  return headBytesMin + unitBytesMax * (originId.length + sourceId.length);
}

/** @param into has room for the row. @returns the place behind it */
export function writeRow(row: RowParts, into: Buffer, at: number): number {
  const end = writeHead(row, into, at);
  const fields = fieldsOf(row);
  if (fields.length === emptyObjectBytes) {
    into[end] = closingBrace;
    return end + 1;
  }
  // The whole object and a comma over its brace: a part of it would be another view of its memory.
  into.set(fields, end);
  into[end] = comma;
  return end + fields.length;
}

const comma = 0x2c;
const closingBrace = 0x7d;
const emptyObjectBytes = 2;

/** The object up to its last built-in field. */
function writeHead({ originId, sourceId, updatedAtMs, score }: RowParts, into: Buffer, at: number): number {
  let end = writeBytes(originIdName, into, at);
  end = writeJsonText(originId, into, end);
  end = writeBytes(sourceGuidName, into, end);
  end = writeJsonText(sourceId, into, end);
  end = writeBytes(updatedAtName, into, end);
  end = writeIsoText(updatedAtMs, into, end);
  if (score === null) return writeBytes(behindTime, into, end);
  end = writeBytes(scoreName, into, end);
  return writeAscii(String(score), into, end);
}

let heads = Buffer.alloc(0);

/** How long the row is that `writeRow` writes. */
export function rowBytes(row: RowParts): number {
  const bytesMax = headBytesMax(row.originId, row.sourceId);
  if (heads.length < bytesMax) heads = Buffer.allocUnsafeSlow(bytesMax);
  const { length } = fieldsOf(row);
  // The brace that opens the fields becomes a comma; without fields just the closing one is left.
  return writeHead(row, heads, 0) + (length === emptyObjectBytes ? 1 : length);
}

export function rowText(row: RowParts): Buffer {
  const text = Buffer.allocUnsafe(rowBytes(row));
  writeRow(row, text, 0);
  return text;
}

const underscore = 0x5f;

/**
 * Fields that stand behind the built-in ones. Those of an index are not named like them, but what is auto-indexed is
 * named by others: in an answer the built-in one has the name.
 */
function fieldsOf({ score, fieldsText }: RowParts): Buffer {
  if (score !== null) return fieldsText;
  if (!fieldsText.includes(underscore) || !fieldsText.includes('"_')) return fieldsText;
  if (!builtInFields.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  for (const name of builtInFields) delete fields[name];
  return Buffer.from(JSON.stringify(fields));
}
