/** Any JSON value, as returned by `JSON.parse`. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. `__proto__` may be one of its own keys: read with `getOwn`, write with `setOwn`. */
export type JsonObject = { [name: string]: Json };

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member of the object, so that `constructor` or `__proto__` never reach a prototype. */
export function getOwn(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A member of the object that is a string; null for anything else. */
export function textIn(object: JsonObject, name: string): string | null {
  const value = getOwn(object, name);
  return typeof value === 'string' ? value : null;
}

/** The value of a JSON text; undefined for any other text. */
export function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Sets an own member of any name; plain assignment to `__proto__` would change the prototype. */
export function setOwn<V>(object: { [name: string]: V }, name: string, value: V): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  object[name] = value;
}

/**
 * JSON text with object members in the same order at every depth, so that equal values have equal text, in whatever order they
 * were sent. Recursive, so callers must limit the depth (`jsonDepthMax`) when they read the value.
 * @param value plain data without loss in JSON
 */
export function canonicalJson(value: object | string | number | boolean | null): string {
  return JSON.stringify(isInOrder(value) ? value : inOrder(value));
}

/** Objects that we create already have their names in order and need not be copied. */
function isInOrder(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isInOrder);
  if (!isJsonObject(value)) return true;
  let before = '';
  for (const name of Object.keys(value)) {
    if (name < before || !isInOrder(value[name])) return false;
    before = name;
  }
  return true;
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  return isJsonObject(value) ? membersInOrder(value) : value;
}

/** Members sorted by name; names that are array indexes come first, as in every JavaScript engine. */
function membersInOrder(members: JsonObject): object {
  const copy: Record<string, unknown> = {};
  for (const name of sorted(Object.keys(members))) setOwn(copy, name, inOrder(members[name] ?? null));
  return copy;
}

let lastNames: readonly string[] = [];
let lastSorted: readonly string[] = [];

/** Caches the last result, because consecutive objects often have the same names. */
function sorted(names: readonly string[]): readonly string[] {
  if (names.length !== lastNames.length || !names.every((name, at) => name === lastNames[at])) {
    lastNames = names;
    lastSorted = [...names].sort();
  }
  return lastSorted;
}
