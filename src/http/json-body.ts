/** Parses the JSON of a body and rejects values that cannot be stored (docs/reference/http.md "Conventions"). */
import { type Problem, ProblemError } from '../contract/errors.ts';
import { isJsonObject, type Json } from '../contract/json.ts';
import { jsonDepthMax } from '../contract/limits.ts';
import { isBeyondSafe } from '../lib/exact-number.ts';
import { findJsonErrorInBytes, type JsonSyntaxError } from '../lib/json-syntax-error.ts';
import type { CallBody } from './call.ts';

/** Both decoders strip a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const anyBytes = new TextDecoder('utf-8');

/** Parses JSON in UTF-8, with or without a byte order mark; undefined for anything else. */
export function parseJson(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(utf8.decode(bytes)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * The JSON of a body.
 * @param tooLarge the problem of a body beyond `bytesMax`
 * @param notJson makes the problem of an invalid body, from the position and reason
 * @throws ProblemError; AbortedError
 */
export async function bodyJson(
  body: CallBody,
  bytesMax: number,
  tooLarge: Problem,
  notJson: (reason: string) => Problem,
): Promise<Json> {
  const bytes = await body.bytes(bytesMax, tooLarge);
  const value = parseJson(bytes);
  if (value === undefined) throw new ProblemError(notJson(notJsonText(bytes)));
  return value;
}

/** Decodes UTF-8, without a byte order mark. */
export function textOf(bytes: Uint8Array): string {
  return anyBytes.decode(bytes);
}

/** Bounds the time that a front spends on a body that it rejects. */
const errorUnitsMax = 256 * 1024;

/** Error message for bytes that are not JSON in UTF-8, with the position: `line 3, column 17: expected \`,\``. */
export function notJsonText(bytes: Uint8Array): string {
  const found = findJsonErrorInBytes(bytes, errorUnitsMax);
  return found === null ? 'The body must be JSON in UTF-8' : notJsonAt(found);
}

export function notJsonAt({ line, column, expected }: JsonSyntaxError): string {
  return `The body must be JSON in UTF-8 (line ${line}, column ${column}: expected ${expected})`;
}

/**
 * Error message if a JSON value cannot be stored; null if it can. Reasons are nesting beyond `depthMax` (the value itself is
 * level 1), a number beyond the range of a double, and an unpaired surrogate in a string or a name. The search does not go
 * deeper than `depthMax`.
 * @param place name of the value in the message: `properties`
 * @param onLarge called for each number that a double may not hold exactly
 */
export function unstorable(
  value: Json,
  place: string,
  depthMax: number,
  onLarge: (() => void) | null = null,
): string | null {
  if (typeof value === 'string') {
    return value.isWellFormed()
      ? null
      : `${place} contains an unpaired surrogate (\\ud800 to \\udfff): send whole characters`;
  }
  if (typeof value === 'number') {
    if (onLarge !== null && isBeyondSafe(value)) onLarge();
    return Number.isFinite(value)
      ? null
      : `${place} contains a number beyond the range of a 64-bit float: send it as a string`;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthMax === 0) return `${place} is nested too deeply: send at most ${jsonDepthMax} levels`;
  return Array.isArray(value)
    ? unstorableItem(value, place, depthMax, onLarge)
    : unstorableMember(value, place, depthMax, onLarge);
}

function unstorableItem(
  items: readonly Json[],
  place: string,
  depthMax: number,
  onLarge: (() => void) | null,
): string | null {
  for (const item of items) {
    if (typeof item === 'boolean' || item === null) continue;
    const reason = unstorable(item, place, depthMax - 1, onLarge);
    if (reason !== null) return reason;
  }
  return null;
}

function unstorableMember(
  value: Json,
  place: string,
  depthMax: number,
  onLarge: (() => void) | null,
): string | null {
  if (!isJsonObject(value)) return null;
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed())
      return `${place} contains a name with an unpaired surrogate: send whole characters`;
    const member = value[name];
    if (member === undefined || member === null || typeof member === 'boolean') continue;
    const reason = unstorable(member, place, depthMax - 1, onLarge);
    if (reason !== null) return reason;
  }
  return null;
}
