/** Finds values that the syntax of JSON allows and the platform does not (docs/reference/http.md "Conventions"). */
import { isJsonObject, type Json } from '../../contract/json.ts';

/**
 * Says why a value cannot be stored; null when it can. Reasons are nesting beyond `depthMax` (the value itself is level
 * 1), a number beyond the range of a double, and a surrogate without its other half in a text or a name. The search
 * does not go deeper than `depthMax`.
 * @param place how the message calls the value: `properties`
 */
export function unstorable(value: Json, place: string, depthMax: number): string | null {
  if (typeof value === 'string') {
    return isWellFormed(value)
      ? null
      : `${place} holds half a surrogate pair (\\ud800 to \\udfff): send whole characters`;
  }
  if (typeof value === 'number') {
    return Number.isFinite(value)
      ? null
      : `${place} holds a number beyond the range of a 64-bit double: send it as text`;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depthMax === 0) return `${place} is nested too deep: at most 100 levels are allowed`;
  return Array.isArray(value)
    ? unstorableItem(value, place, depthMax)
    : unstorableMember(value, place, depthMax);
}

function unstorableItem(items: readonly Json[], place: string, depthMax: number): string | null {
  for (const item of items) {
    if (typeof item === 'boolean' || item === null) continue;
    const reason = unstorable(item, place, depthMax - 1);
    if (reason !== null) return reason;
  }
  return null;
}

function unstorableMember(value: Json, place: string, depthMax: number): string | null {
  if (!isJsonObject(value)) return null;
  for (const name of Object.keys(value)) {
    if (!isWellFormed(name)) return `${place} holds a name with half a surrogate pair: send whole characters`;
    const member = value[name];
    if (member === undefined || member === null || typeof member === 'boolean') continue;
    const reason = unstorable(member, place, depthMax - 1);
    if (reason !== null) return reason;
  }
  return null;
}

/** True when every surrogate of a text has its other half. Only then the text has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}
