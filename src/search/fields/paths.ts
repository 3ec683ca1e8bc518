/**
 * Object members as fields of auto-indexed types, named by their path (docs/reference/indexes-and-queries.md "Auto-indexed
 * source groups"). Property names have no dots, so paths never collide with them.
 */
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { autoPathCharactersMax, autoPathNamesMax } from '../../contract/limits.ts';
import { chain, type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { FieldType } from './field-type.ts';
import { fitField } from './fit.ts';

/** The cost of visiting a member, in units of the work budget. */
const unitsPerMember = 20;

export type PathValues = ReadonlyMap<string, Json>;

/** True for a property whose members are fields: an object, or a list with one. */
export function hasMembers(value: Json): boolean {
  return Array.isArray(value) ? value.some(isJsonObject) : isJsonObject(value);
}

/** All member values by path. In a list of objects, a path collects the values of all objects. */
export function* pathValues(properties: JsonObject): Steps<PathValues> {
  const found = new Map<string, Json>();
  for (const name of Object.keys(properties)) {
    const value = properties[name] ?? null;
    if (hasMembers(value)) yield* collect(name, value, 1, false, found);
  }
  return found;
}

function* collect(
  path: string,
  value: Json,
  depth: number,
  isListed: boolean,
  found: Map<string, Json>,
): Steps<void> {
  if (Array.isArray(value)) {
    for (const item of value) if (isJsonObject(item)) yield* collect(path, item, depth, true, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    const memberPath = `${path}.${name}`;
    workBudget.units += unitsPerMember;
    if (workBudget.isOver()) yield;
    if (member === null || memberPath.length > autoPathCharactersMax) continue;
    if (!isListed) found.set(memberPath, found.get(memberPath) ?? member);
    else addTo(found, memberPath, member);
    if (depth + 1 < autoPathNamesMax && hasMembers(member)) {
      yield* collect(memberPath, member, depth + 1, isListed, found);
    }
  }
}

function addTo(found: Map<string, Json>, path: string, member: Json): void {
  const known = found.get(path);
  const list = Array.isArray(known) ? known : [];
  found.set(path, list);
  if (!Array.isArray(member)) list.push(member);
  else for (const item of member) list.push(item);
}

/** The value of a field in an item, converted as in its column; null if absent. */
export function fieldValue(fields: JsonObject, name: string, type: FieldType): Resumable<Json> {
  const own = getOwn(fields, name);
  if (own !== undefined) return own;
  return chain(sentValue(fields, name), (member) =>
    member === null ? null : chain(fitField(type, member), (fit) => (fit.ok ? fit.value : null)),
  );
}

/** The value of a field in an item as it was sent; null if absent. */
export function sentValue(fields: JsonObject, name: string): Resumable<Json> {
  const own = getOwn(fields, name);
  if (own !== undefined) return own;
  const property = propertyOf(name);
  const value = property === name ? null : (getOwn(fields, property) ?? null);
  if (value === null || !hasMembers(value)) return null;
  return chain(new Suspended(pathValues({ [property]: value })), (values) => values.get(name) ?? null);
}

/** The property of a field: itself, or the first name of its path. */
export function propertyOf(field: string): string {
  const dot = field.indexOf('.');
  return dot < 0 ? field : field.slice(0, dot);
}
