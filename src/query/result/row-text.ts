/**
 * A row as clients get it: JSON text in UTF-8. The built-in fields come first, then the item's own fields as the shard
 * has them.
 */
import { builtInFields } from '../../contract/built-in-fields.ts';
import type { JsonObject } from '../../contract/json.ts';

export interface RowValues {
  readonly originId: string;
  readonly sourceId: string;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  readonly score: number;
  /** JSON text of an object with the item's fields. */
  readonly fieldsBytes: Buffer;
}

export interface RowText {
  /** The text in pieces, in order. They are part of the shard's memory and must not be changed. */
  readonly pieces: readonly Uint8Array[];
  /** Bytes of all pieces. */
  readonly bytes: number;
}

/** Rows of an index have a score, those of an auto-indexed source group have none. @param index from `indexName` */
export function isScored(index: string): boolean {
  return !index.startsWith('auto:');
}

/** @param isWithScore from `isScored` */
export function rowText(
  { originId, sourceId, updatedAtMs, score, fieldsBytes }: RowValues,
  isWithScore: boolean,
): RowText {
  const ids = `{"_originId":${JSON.stringify(originId)},"_sourceGuid":${JSON.stringify(sourceId)}`;
  const updatedAt = `,"_updatedAt":"${new Date(updatedAtMs).toISOString()}"`;
  const head = `${ids}${updatedAt}${isWithScore ? `,"_score":${score}` : ''}`;
  // Clients name the fields of auto-indexed types, and may name one like a built-in field. The fields of an index
  // schema never have such names.
  const fields = isWithScore ? fieldsBytes : withoutBuiltIns(fieldsBytes);
  const pieces =
    fields.length === emptyObjectBytes
      ? [Buffer.from(`${head}}`)]
      : [Buffer.from(`${head},`), fields.subarray(openingBraceBytes)];
  return { pieces, bytes: pieces.reduce((sum, { length }) => sum + length, 0) };
}

/** The rows one behind the other, in one buffer. */
export function joinedRows(rows: readonly RowText[]): Buffer {
  return Buffer.concat(rows.flatMap(({ pieces }) => pieces));
}

const openingBraceBytes = 1;
const emptyObjectBytes = 2;
const underscore = 0x5f;

/** The fields without those that have the name of a built-in one: in an answer the built-in field has the name. */
function withoutBuiltIns(fieldsText: Buffer): Buffer {
  if (!fieldsText.includes(underscore) || !fieldsText.includes('"_')) return fieldsText;
  if (!builtInFields.some((name) => fieldsText.includes(`"${name}":`))) return fieldsText;
  const fields = JSON.parse(fieldsText.toString()) as JsonObject;
  for (const name of builtInFields) delete fields[name];
  return Buffer.from(JSON.stringify(fields));
}
