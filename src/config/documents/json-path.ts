import type { Json, JsonObject } from '../../contract/json.ts';

const plainName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The place of a member below `path`: `$.domains`, or `$['two words']` where the name is no plain one. */
export function memberPath(path: string, name: string): string {
  if (plainName.test(name)) return `${path}.${name}`;
  return `${path}['${name.replace(/[\\']/g, '\\$&').replace(/[\n\r]/g, ' ')}']`;
}

/** The place of an item below `path`: `$.domains[0]`. */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}

/** The same value with the members of every object ordered by name. `value` is at most `configDepthMax` deep. */
export function withSortedMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // fromEntries defines members, so `__proto__` stays a name like any other.
  return Object.fromEntries(entries.map(([name, member]) => [name, withSortedMembers(member)])) as JsonObject;
}
