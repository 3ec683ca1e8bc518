import { isUtf8 } from 'node:buffer';
import { isJsonObject, jsonOf, textIn } from '../../contract/json.ts';
import { entityBytesMax } from '../../contract/limits.ts';
import { findJsonErrorInBytes, type JsonSyntaxError } from '../../lib/json-syntax-error.ts';

/**
 * Maximum length of a line in bytes. Escaped characters (`\u00e9`) take up to six times the bytes that count for the limit of
 * an entity, so an entity in a longer line would be rejected.
 */
export const lineBytesMax = 6 * entityBytesMax + 1024 * 1024;

/** Reads the records of a byte stream in bounded memory. @throws CommandStop if the rest cannot be read */
export type RecordReader = (
  chunks: AsyncIterable<Buffer>,
) => AsyncIterable<readonly (EntityRecord | Failure)[]>;

/** The unparsed JSON text of an entity. */
export interface RecordText {
  readonly bytes: Buffer;
  /** Position of its first byte in the file, from 1. */
  readonly line: number;
  readonly column: number;
  readonly isTooLong: boolean;
}

/** An entity to send. Its bytes are sent unchanged, to preserve digits and escapes. */
export interface EntityRecord {
  readonly line: number;
  readonly bytes: Buffer;
  /** Null if the entity has none that is a string. The platform then rejects it. */
  readonly originId: string | null;
}

/** An entity that failed. */
export interface Failure {
  readonly line: number;
  readonly originId: string | null;
  readonly errors: readonly string[];
  /** The JSON text of the entity; if it is not JSON, a JSON string with its beginning. */
  readonly entity: string;
}

const shownCharacters = 1000;

/** Parses an entity: a record to send, or a failure that can be detected here. */
export function readRecord(text: RecordText): EntityRecord | Failure {
  const { line, bytes } = text;
  if (text.isTooLong) return unreadable(line, bytes, `The entity is larger than ${lineBytesMax} bytes`);
  const entity = isUtf8(bytes) ? jsonOf(bytes.toString('utf8')) : undefined;
  if (entity === undefined) return unreadable(line, bytes, notJsonText(text));
  if (!isJsonObject(entity)) {
    return {
      line,
      originId: null,
      errors: ['The entity is not a JSON object'],
      entity: bytes.toString('utf8'),
    };
  }
  return { line, bytes, originId: textIn(entity, 'originId') };
}

/** Wraps a reader, and adds the originIds that it reads to a set. */
export function collectingIds(read: RecordReader, originIds: Set<string>): RecordReader {
  return async function* (chunks) {
    for await (const records of read(chunks)) {
      for (const { originId } of records) if (originId !== null) originIds.add(originId);
      yield records;
    }
  };
}

export function isFailure(outcome: EntityRecord | Failure): outcome is Failure {
  return 'errors' in outcome;
}

/** The failure of a record that was sent. */
export function refused(record: EntityRecord, errors: readonly string[]): Failure {
  const { line, originId, bytes } = record;
  return { line, originId, errors, entity: bytes.toString('utf8') };
}

/** A failure of bytes that are not the JSON of an entity. */
export function unreadable(line: number, bytes: Buffer, error: string): Failure {
  const shown = bytes.subarray(0, shownCharacters * 4).toString('utf8');
  return { line, originId: null, errors: [error], entity: JSON.stringify(shown.slice(0, shownCharacters)) };
}

function notJsonText({ bytes, line, column }: RecordText): string {
  const found = findJsonErrorInBytes(bytes);
  if (found === null) return 'The entity is not JSON';
  return `The entity is not JSON (${placeText(found, line, column)}: expected ${found.expected})`;
}

/** Position in the file of an error in a text that begins at a line and column. */
function placeText(found: JsonSyntaxError, line: number, column: number): string {
  const first = found.line === 1;
  return `line ${line + found.line - 1}, column ${first ? column + found.column - 1 : found.column}`;
}
