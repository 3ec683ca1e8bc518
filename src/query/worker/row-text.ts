/** A row as clients get it: JSON text in UTF-8 with the built-in fields first, copied from the shard to the answer. */
import { builtInFields } from '../../contract/built-in-fields.ts';
import type { JsonObject } from '../../contract/json.ts';
import { asciiBytes, writeBytes } from './json-bytes.ts';
import { RowHeads } from './row-heads.ts';

export interface RowValues {
  readonly originId: string;
  readonly sourceId: string;
  readonly updatedAtMs: number;
  readonly score: number;
  /** JSON text of the item's fields, an object of their own. */
  readonly fieldsBytes: Buffer;
}

/** A row in pieces, which `writeRow` joins. */
export interface RowPieces {
  /** From `RowHeads`. */
  readonly head: Uint8Array;
  /** `,"_score":…`, or nothing. */
  readonly score: Uint8Array;
  /** An object of its own. */
  readonly fields: Uint8Array;
  /** Of the row. */
  readonly bytes: number;
}

const heads = new RowHeads();
const noScore = asciiBytes('');

/** Rows of an index have a score, those of an auto-indexed source group have none. */
export function isScored(index: string): boolean {
  return !index.startsWith('auto:');
}

export function scoredRow({ originId, sourceId, updatedAtMs, score, fieldsBytes }: RowValues): RowPieces {
  return joined(heads.of(originId, sourceId, updatedAtMs), scoreBytes(score), fieldsBytes);
}

/** What is auto-indexed is named by others, and may be named like a built-in field; an index has no such fields. */
export function unscoredRow({ originId, sourceId, updatedAtMs, fieldsBytes }: RowValues): RowPieces {
  return joined(heads.of(originId, sourceId, updatedAtMs), noScore, withoutBuiltIns(fieldsBytes));
}

const emptyObjectBytes = 2;

function joined(head: Uint8Array, score: Uint8Array, fields: Uint8Array): RowPieces {
  // The brace that opens the fields becomes a comma; without fields just the closing one is left.
  const fieldsBytes = fields.length === emptyObjectBytes ? 1 : fields.length;
  return { head, score, fields, bytes: head.length + score.length + fieldsBytes };
}

let lastScore = Number.NaN;
let lastScoreBytes = noScore;

/** Most rows of a page have the same score. */
function scoreBytes(score: number): Uint8Array {
  if (score !== lastScore) {
    lastScoreBytes = asciiBytes(`,"_score":${score}`);
    lastScore = score;
  }
  return lastScoreBytes;
}

const comma = 0x2c;
const closingBrace = 0x7d;

/** @param into has room for the row. @returns the place behind it */
export function writeRow({ head, score, fields }: RowPieces, into: Uint8Array, at: number): number {
  into.set(head, at);
  const end = writeBytes(score, into, at + head.length);
  if (fields.length === emptyObjectBytes) {
    into[end] = closingBrace;
    return end + 1;
  }
  // The whole object and a comma over its brace: a part of it would be another view of its memory.
  into.set(fields, end);
  into[end] = comma;
  return end + fields.length;
}

export function rowText(row: RowPieces): Buffer {
  const text = Buffer.allocUnsafe(row.bytes);
  writeRow(row, text, 0);
  return text;
}

const underscore = 0x5f;

/** In an answer the built-in field has the name. */
function withoutBuiltIns(fieldsText: Buffer): Buffer {
  if (!fieldsText.includes(underscore) || !fieldsText.includes('"_')) return fieldsText;
  if (!builtInFields.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  for (const name of builtInFields) delete fields[name];
  return Buffer.from(JSON.stringify(fields));
}
