/** The JSON of a body, and what the platform does not take of it (docs/reference/http.md "Conventions"). */
import { isJsonObject, type Json } from '../contract/json.ts';
import { jsonDepthMax } from '../contract/limits.ts';
import { isBeyondSafe } from '../lib/exact-number.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value of JSON text in UTF-8; undefined when the bytes are no such text. */
export function parseJson(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(utf8.decode(bytes)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Says why a value that the syntax of JSON allows cannot be stored; null when it can. Reasons are nesting beyond `depthMax`
 * (the value itself is level 1), a number beyond the range of a double, and a surrogate without its other half in a text or a
 * name. The search does not go deeper than `depthMax`.
 * @param place how the message calls the value: `properties`
 * @param onLarge is called for each number that a double may not hold exactly
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
      : `${place} holds half a surrogate pair (\\ud800 to \\udfff): send whole characters`;
  }
  if (typeof value === 'number') {
    if (onLarge !== null && isBeyondSafe(value)) onLarge();
    return Number.isFinite(value)
      ? null
      : `${place} holds a number beyond the range of a 64-bit double: send it as text`;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthMax === 0) return `${place} is nested too deep: send at most ${jsonDepthMax} levels`;
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
      return `${place} holds a name with half a surrogate pair: send whole characters`;
    const member = value[name];
    if (member === undefined || member === null || typeof member === 'boolean') continue;
    const reason = unstorable(member, place, depthMax - 1, onLarge);
    if (reason !== null) return reason;
  }
  return null;
}
