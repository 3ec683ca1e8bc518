/** A row as clients get it: JSON text in UTF-8 with the built-in fields first, copied from the shard to the answer. */
import type { JsonObject } from '../contract/json.ts';
import { isoText } from './iso-text.ts';

/** Members of a result row that are not fields of the item (specification "Query result"). */
const builtInNames = ['_originId', '_sourceGuid', '_updatedAt', '_score', '_views'] as const;
const emptyObjectBytes = 2;

export interface BuiltIns {
  readonly originId: string;
  readonly sourceId: string;
  readonly updatedAtMs: number;
  /** Null where the answer has none. */
  readonly score: number | null;
}

/** A row in two pieces, which `writeRow` joins. */
export interface RowPieces {
  /** The object up to its last built-in field. */
  readonly head: string;
  /** An object of its own. */
  readonly fields: Buffer;
  /** Bytes of both together. */
  readonly bytes: number;
  /** The head is ASCII, a byte a character. */
  readonly isPlain: boolean;
}

/** Rows of an index have a score, those of an auto-indexed source group have none. */
export function isScored(index: string): boolean {
  return !index.startsWith('auto:');
}

export function rowPieces(
  { originId, sourceId, updatedAtMs, score }: BuiltIns,
  fieldsText: Buffer,
): RowPieces {
  const isPlain = isPlainSource(sourceId) && isPlainText(originId);
  const ids = isPlain
    ? `{"_originId":"${originId}","_sourceGuid":"${sourceId}"`
    : `{"_originId":${JSON.stringify(originId)},"_sourceGuid":${JSON.stringify(sourceId)}`;
  const updatedAt = `,"_updatedAt":"${isoText(updatedAtMs)}"`;
  const head = `${ids}${updatedAt}${score === null ? '' : `,"_score":${score}`}`;
  const fields = withoutBuiltIns(fieldsText);
  const headBytes = isPlain ? head.length : Buffer.byteLength(head);
  // The brace that opens the fields becomes a comma; without fields just the closing one is left.
  const bytes = headBytes + (fields.length === emptyObjectBytes ? 1 : fields.length);
  return { head, fields, bytes, isPlain };
}

/** Whether a text stands in JSON as it is, as most ids do. */
function isPlainText(text: string): boolean {
  return /^[\w./:-]*$/.test(text);
}

let lastSource = '';
let isLastPlain = true;

/** The rows of a page are of few sources. */
function isPlainSource(sourceId: string): boolean {
  if (sourceId !== lastSource) {
    lastSource = sourceId;
    isLastPlain = isPlainText(sourceId);
  }
  return isLastPlain;
}

/** @returns the place behind the row */
export function writeRow({ head, fields, isPlain }: RowPieces, into: Buffer, at: number): number {
  const end = at + into.write(head, at, isPlain ? 'latin1' : 'utf8');
  if (fields.length === emptyObjectBytes) return into.writeUInt8(closingBrace, end);
  // The whole object and a comma over its brace: a part of it would be another view of its memory.
  into.set(fields, end);
  into[end] = comma;
  return end + fields.length;
}

const underscore = 0x5f;
const comma = 0x2c;
const closingBrace = 0x7d;

export function rowText(pieces: RowPieces): Buffer {
  const text = Buffer.allocUnsafe(pieces.bytes);
  writeRow(pieces, text, 0);
  return text;
}

/** An item may have a field that is named like a built-in one; in an answer the built-in one has the name. */
function withoutBuiltIns(fieldsText: Buffer): Buffer {
  if (!fieldsText.includes(underscore) || !fieldsText.includes('"_')) return fieldsText;
  if (!builtInNames.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  for (const name of builtInNames) delete fields[name];
  return Buffer.from(JSON.stringify(fields));
}
