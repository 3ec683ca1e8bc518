import { isUtf8 } from 'node:buffer';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { type Line, lineBytesMax } from './lines.ts';

/** A line that may be sent. Its bytes are sent as they are, so no digit and no escape is changed. */
export interface EntityRecord {
  readonly line: number;
  readonly bytes: Buffer;
  /** Null when the entity has none, or none that is a text. The platform then says so. */
  readonly originId: string | null;
}

/** An entity that failed, as it stands in the file of failures. */
export interface Failure {
  readonly line: number;
  readonly originId: string | null;
  readonly errors: readonly string[];
  /** The entity; the beginning of the line as text when it is not JSON. */
  readonly entity: Json;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const shownCharacters = 1000;

/** Reads a line: a record to send, or a failure that is certain without asking the platform. */
export function readRecord(line: Line): EntityRecord | Failure {
  const bytes = line.number === 1 ? withoutByteOrderMark(line.bytes) : line.bytes;
  if (line.isTooLong) return unreadable(line.number, bytes, `The line is longer than ${lineBytesMax} bytes`);
  if (!isUtf8(bytes)) return unreadable(line.number, bytes, 'The line is not UTF-8 text');
  let entity: Json;
  try {
    entity = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return unreadable(line.number, bytes, `The line is not JSON: ${errorText(error)}`);
  }
  if (!isJsonObject(entity)) {
    return { line: line.number, originId: null, errors: ['The line is not a JSON object'], entity };
  }
  const originId = getOwn(entity, 'originId');
  return { line: line.number, bytes, originId: typeof originId === 'string' ? originId : null };
}

export function isFailure(outcome: EntityRecord | Failure): outcome is Failure {
  return 'errors' in outcome;
}

/** The failure of a record that was sent. */
export function refused(record: EntityRecord, errors: readonly string[]): Failure {
  const { line, originId, bytes } = record;
  return { line, originId, errors, entity: JSON.parse(bytes.toString('utf8')) };
}

function unreadable(line: number, bytes: Buffer, error: string): Failure {
  const shown = bytes.subarray(0, shownCharacters * 4).toString('utf8');
  return { line, originId: null, errors: [error], entity: shown.slice(0, shownCharacters) };
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes;
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
