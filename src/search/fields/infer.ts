/** Infers the field types of auto-indexed entity types from the values of entities. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { parseDateText } from './date-text.ts';
import type { FieldType } from './field-type.ts';
import { hasMembers, pathValues } from './paths.ts';

/**
 * The type of a field in an auto-indexed source group, inferred from its first value (docs/reference/indexes-and-queries.md
 * "Auto-indexed source groups"). The first item of an array that is neither null nor an empty string decides. An array of
 * objects or arrays is an `object`. Null if the value has no type.
 */
export function inferFieldType(value: Json): FieldType | null {
  if (!Array.isArray(value)) return inferScalar(value);
  const first = value.find((item) => !isNothing(item));
  if (first === undefined) return null;
  if (Array.isArray(first)) return 'object';
  const item = inferScalar(first);
  // A list of dates with another string is a list of strings, as if that string had come in a later value.
  if (item === 'date' && value.some(isOtherText)) return 'keywordText[]';
  return item === null || item === 'object' ? item : (`${item}[]` as const);
}

/**
 * True if a type inferred from a later value replaces the decided one: a date field becomes text after any string that is not a
 * date.
 */
export function isRetyped(decided: FieldType, shown: FieldType): boolean {
  return (
    (decided === 'date' && shown === 'keywordText') || (decided === 'date[]' && shown === 'keywordText[]')
  );
}

/** True for a value that turns a date field into text. */
export function retypes(decided: FieldType, value: Json): boolean {
  if (decided === 'date') return isOtherText(value);
  return decided === 'date[]' && Array.isArray(value) && value.some(isOtherText);
}

function isOtherText(value: Json): boolean {
  return typeof value === 'string' && value !== '' && parseDateText(value) === null;
}

/** True for a value without a type: null, an empty string, or an array of only such items. */
export function decidesNothing(value: Json): boolean {
  return isNothing(value) || (Array.isArray(value) && value.every(isNothing));
}

function isNothing(value: Json): boolean {
  return value === null || value === '';
}

type InferredScalar = 'boolean' | 'double' | 'date' | 'keywordText' | 'object';

function inferScalar(value: Json): InferredScalar | null {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'double';
    case 'string':
      if (value === '') return null;
      return parseDateText(value) === null ? 'keywordText' : 'date';
    default:
      return value === null ? null : 'object';
  }
}

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
