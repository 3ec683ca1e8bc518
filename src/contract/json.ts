/** Any JSON value as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

/** A JSON object. `__proto__` may be one of its own keys: read with `getOwn`, write with `setOwn`. */
export type JsonObject = { [name: string]: Json };

/** True for a JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member that the object itself has, so that `constructor` or `__proto__` never reach a prototype. */
export function getOwn(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets an own member whatever its name; plain assignment to `__proto__` would change the prototype. */
export function setOwn<V>(object: { [name: string]: V }, name: string, value: V): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  object[name] = value;
}
