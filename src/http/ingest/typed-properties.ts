/**
 * Converts the typed properties of `POST /ingest/v1`, in which each value has a type, to plain JSON (docs/reference/http.md
 * "Typed properties"). Pure. Member names may begin with a lower-case or upper-case letter, a number may be a string, and a
 * missing value is null.
 */
import { getOwn, isJsonObject, type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { errorsListedMax, jsonDepthMax, typedPlaceCharactersMax } from '../../contract/limits.ts';
import { propertyName } from '../../contract/shapes-ingest.ts';
import { isInexact, quoteInexact } from '../../lib/exact-number.ts';
import { parseJsonNumber, roundNumber, roundText } from '../../lib/json-number.ts';
import { excerpt } from '../../lib/message-text.ts';
import { itemPath, memberPath } from '../../lib/text-position.ts';
import type { FieldError } from '../routing/validate.ts';

export interface PlainProperties {
  /** A value that is not a property map is returned unchanged. */
  readonly properties: Json;
  /** `field` is the path of the property: `properties.hero.images[2]`. */
  readonly errors: readonly FieldError[];
}

/** @param typed property name -> typed property. Properties with invalid names are reported and left out */
export function plainProperties(typed: Json): PlainProperties {
  const errors: FieldError[] = [];
  if (!isJsonObject(typed)) return { properties: typed, errors };
  const properties = plainMap(withAllowedNames(typed, errors), rootPosition, errors);
  return { properties, errors };
}

const allowedName = new RegExp(propertyName.pattern);
const nameText = `is not allowed: a name ${propertyName.rule}`;

/** Only the top-level names in `properties` must follow the rule. */
function withAllowedNames(typed: JsonObject, errors: FieldError[]): JsonObject {
  const bad = Object.keys(typed).filter((name) => !allowedName.test(name));
  if (bad.length === 0) return typed;
  for (const name of bad)
    report(errors, { ...rootPosition, place: memberPlace('properties', name) }, nameText);
  return Object.fromEntries(Object.entries(typed).filter(([name]) => allowedName.test(name)));
}

/** The path and nesting level of a value. `properties` of the entity is level 1. */
interface Position {
  readonly place: string;
  readonly level: number;
}

const rootPosition: Position = { place: 'properties', level: 1 };

const typeNames = ['string', 'number', 'boolean', 'object', 'array'] as const;
type TypeName = (typeof typeNames)[number];

/** A member of a typed property; null if it is absent. @param name in lower case */
function memberOf(property: JsonObject, name: string): Json {
  const upper = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return getOwn(property, name) ?? getOwn(property, upper) ?? null;
}

function plainMap(typed: JsonObject, { place, level }: Position, errors: FieldError[]): JsonObject {
  const plain: JsonObject = {};
  // The plain value of a property nested this deep is rejected later, so there is no need to go on.
  if (level > jsonDepthMax) return plain;
  for (const name of Object.keys(typed)) {
    const at = { place: memberPlace(place, name), level };
    setOwn(plain, name, plainValue(getOwn(typed, name) ?? null, at, errors));
  }
  return plain;
}

/** The plain value of a typed property; null if it is invalid. */
function plainValue(property: Json, at: Position, errors: FieldError[]): Json {
  if (property === null) return null;
  const type = isJsonObject(property) ? memberOf(property, 'type') : null;
  if (!isJsonObject(property) || typeof type !== 'string') {
    return report(errors, at, 'must be a typed property: {"type", "value"}');
  }
  const known = typeNames.find((name) => name === type);
  if (known === undefined) return report(errors, at, `must have one of these types: ${typeNames.join(', ')}`);
  return readers[known](property, at, errors);
}

type Reader = (property: JsonObject, at: Position, errors: FieldError[]) => Json;

const readers: Readonly<Record<TypeName, Reader>> = {
  string: (property, at, errors) => {
    const value = memberOf(property, 'value');
    return value === null || typeof value === 'string'
      ? value
      : report(errors, at, 'must have a string as value');
  },
  boolean: (property, at, errors) => {
    const value = memberOf(property, 'value');
    if (value === null || typeof value === 'boolean') return value;
    return report(errors, at, 'must have true or false as value');
  },
  number: (property, at, errors) => {
    const value = memberOf(property, 'value');
    const precision = memberOf(property, 'precision');
    if (precision !== null && !isPrecision(precision)) {
      return report(errors, at, 'must have a whole number, 0 or more, as precision');
    }
    if (value === null) return null;
    if (typeof value === 'string' && parseJsonNumber(value) !== null && isInexact(value.trim())) {
      return addError(errors, inexactText(at.place, value.trim(), 'Send it as a string (type string)'));
    }
    return numberOf(value, precision) ?? report(errors, at, 'must have a number as value');
  },
  object: (property, at, errors) => {
    const properties = memberOf(property, 'properties');
    if (properties === null) return null;
    if (!isJsonObject(properties)) return report(errors, at, 'must have an object as properties');
    return plainMap(properties, { ...at, level: at.level + 1 }, errors);
  },
  array: (property, at, errors) => {
    const items = memberOf(property, 'items');
    if (items === null) return null;
    if (!Array.isArray(items)) return report(errors, at, 'must have an array as items');
    const level = at.level + 1;
    if (level > jsonDepthMax) return [];
    return items.map((item, index) => plainItem(item, { place: itemPath(at.place, index), level }, errors));
  },
};

/** An item is a typed property, or a bare map from names to typed properties. */
function plainItem(item: Json, at: Position, errors: FieldError[]): Json {
  const isBare = isJsonObject(item) && typeof memberOf(item, 'type') !== 'string';
  return isBare ? plainMap(item, { ...at, level: at.level + 1 }, errors) : plainValue(item, at, errors);
}

/** No 64-bit float has more fractional digits than this. */
const precisionMax = 1_100;

function isPrecision(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** Null for a value that is not a number. Without a precision, it is not rounded. */
function numberOf(value: Json, precision: number | null): number | null {
  const digits = precision === null ? null : Math.min(precision, precisionMax);
  if (typeof value === 'string') return digits === null ? parseJsonNumber(value) : roundText(value, digits);
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return digits === null ? value : roundNumber(value, digits);
}

function report(errors: FieldError[], { place }: Position, text: string): null {
  return addError(errors, { field: place, text: `${place} ${text}` });
}

function addError(errors: FieldError[], error: FieldError): null {
  if (errors.length < errorsListedMax) errors.push(error);
  return null;
}

/** Shortened and well-formed, because every error includes a path, and names can be long and contain unpaired surrogates. */
function memberPlace(place: string, name: string): string {
  return shortened(`${place}.${name}`);
}

/**
 * Prefix of the strings that replace inexact numbers. A string that already has it can be reported too, but only in an entity
 * that also has such a number.
 */
const mark = '\u0000number ';

/** Replaces inexact numbers in JSON text with marked strings for `inexactErrors`; null if there are none. */
export function withMarkedNumbers(text: string): string | null {
  return quoteInexact(text, JSON.stringify(mark).slice(1, -1));
}

/** An error for each inexact number of a marked value, in order, at most `errorsListedMax`. */
export function inexactErrors(properties: Json): FieldError[] {
  const errors: FieldError[] = [];
  collect(properties, 'properties', errors);
  return errors;
}

function inexactText(place: string, digits: string, advice = 'Send it as a string'): FieldError {
  const field = shortened(place);
  const text = `${field} is ${shortened(digits)}, which a 64-bit float cannot represent exactly. ${advice}`;
  return { field, text };
}

function shortened(text: string): string {
  return excerpt(text.toWellFormed(), typedPlaceCharactersMax);
}

function collect(value: Json, place: string, errors: FieldError[]): void {
  if (errors.length === errorsListedMax) return;
  if (typeof value === 'string') {
    if (value.startsWith(mark)) errors.push(inexactText(place, value.slice(mark.length)));
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) collect(item, itemPath(place, at), errors);
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      collect(getOwn(value, name) ?? null, memberPath(place, name), errors);
    }
  }
}
