/** Infers the field types of auto-indexed entity types from the values of entities. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { FieldType } from './field-type.ts';
import { inferFieldType, isRetyped, retypes } from './infer.ts';
import { hasMembers, pathValues } from './paths.ts';

/** A property or path, and the type inferred from its value. */
export type ShownField = readonly [name: string, type: FieldType];

type FieldTypes = ReadonlyMap<string, FieldType>;

/** The cost of examining a property, in units of the work budget. */
const unitsPerField = 20;

/**
 * The fields that are unknown or get another type. Properties come first, so that members of objects do not use up their room.
 */
export function* shownFields(properties: JsonObject, known: FieldTypes | null): Steps<ShownField[]> {
  const shown: ShownField[] = [];
  let hasPaths = false;
  for (const name of namesOf(properties)) {
    const value = properties[name] ?? null;
    show(name, value, known, shown);
    hasPaths ||= hasMembers(value);
    workBudget.units += unitsPerField;
    if (workBudget.isOver()) yield;
  }
  if (!hasPaths) return shown;
  for (const [path, value] of yield* pathValues(properties)) show(path, value, known, shown);
  return shown;
}

function show(name: string, value: Json, known: FieldTypes | null, shown: ShownField[]): void {
  const decided = known?.get(name);
  if (decided !== undefined && !retypes(decided, value)) return;
  const type = inferFieldType(value);
  if (type !== null) shown.push([name, type]);
}

/** Adds a field of an entity to the candidates. The first value decides the type, unless it is a date. */
export function recordShown([name, type]: ShownField, candidates: Map<string, FieldType>): void {
  const candidate = candidates.get(name);
  if (candidate === undefined || isRetyped(candidate, type)) candidates.set(name, type);
}

/** True for a field without a type, or with a new one. */
export function isNews([name, type]: ShownField, known: FieldTypes | null): boolean {
  const decided = known?.get(name);
  return decided === undefined || isRetyped(decided, type);
}
