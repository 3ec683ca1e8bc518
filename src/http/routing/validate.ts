/** Validates a JSON value against a shape, with one message per error. */
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import type { Shape, ShapeType } from '../../contract/shape.ts';
import { hasMoreCodePoints } from '../../lib/code-points.ts';
import { excerpt } from '../../lib/message-text.ts';

export interface FieldError {
  /** The top-level member with the error; '' for the value as a whole. */
  readonly field: string;
  /** A whole sentence: `url must begin with /`. */
  readonly text: string;
}

const patterns = new Map<string, RegExp>();

/**
 * The errors of a value, in the order of its shape, at most `limit`.
 * @param name name of the whole value in the messages
 */
export function validate(shape: Shape, value: Json, limit: number, name = 'The body'): FieldError[] {
  const found: FieldError[] = [];
  check(shape, value, { field: '', place: '' }, { found, limit, name });
  return found;
}

/** `errors` of a single save maps each field to one string, so the errors of a field are joined. */
export function errorsByField(errors: readonly FieldError[]): Record<string, string> {
  const texts = new Map<string, string>();
  for (const { field, text } of errors) {
    const name = field === '' ? 'body' : field;
    const known = texts.get(name);
    texts.set(name, known === undefined ? text : `${known}; ${text}`);
  }
  return Object.fromEntries(texts);
}

interface Place {
  readonly field: string;
  /** Path of the value in messages: `redirects[2]`. */
  readonly place: string;
}

interface Findings {
  readonly found: FieldError[];
  readonly limit: number;
  readonly name: string;
}

function report({ found, limit, name }: Findings, { field, place }: Place, text: string): void {
  if (found.length < limit) found.push({ field, text: `${place === '' ? name : place} ${text}` });
}

function check(shape: Shape, value: Json, at: Place, findings: Findings): void {
  if (findings.found.length >= findings.limit) return;
  if (shape.type !== undefined && !hasType(shape.type, value)) {
    report(findings, at, `must be ${typeText(shape.type)}`);
    return;
  }
  if (shape.enum !== undefined && !shape.enum.some((allowed) => allowed === value)) {
    report(findings, at, `must be one of ${shape.enum.join(', ')}`);
    return;
  }
  if (shape.anyOf?.every((one) => validate(one, value, 1).length > 0) === true) {
    report(findings, at, shape['x-rule'] ?? 'must have one of the allowed shapes');
    return;
  }
  if (typeof value === 'string') checkString(shape, value, at, findings);
  else if (typeof value === 'number') checkNumber(shape, value, at, findings);
  else if (Array.isArray(value)) checkArray(shape, value, at, findings);
  else if (isJsonObject(value)) checkObject(shape, value, at, findings);
}

/** Lengths are in code points, as in JSON Schema (2020-12 Validation, section 6.3.1). */
function checkString(shape: Shape, value: string, at: Place, findings: Findings): void {
  if (shape.minLength !== undefined && value.length < shape.minLength) {
    report(findings, at, 'must not be empty');
  } else if (shape.maxLength !== undefined && hasMoreCodePoints(value, shape.maxLength)) {
    report(findings, at, `can have at most ${shape.maxLength} characters`);
  } else if (shape.pattern !== undefined && !patternOf(shape.pattern).test(value)) {
    report(findings, at, shape['x-rule'] ?? `must match ${shape.pattern}`);
  }
}

function checkNumber(shape: Shape, value: number, at: Place, findings: Findings): void {
  if (shape.minimum !== undefined && value < shape.minimum)
    report(findings, at, `must be at least ${shape.minimum}`);
  if (shape.exclusiveMinimum !== undefined && value <= shape.exclusiveMinimum)
    report(findings, at, `must be greater than ${shape.exclusiveMinimum}`);
  if (shape.maximum !== undefined && value > shape.maximum)
    report(findings, at, `must be at most ${shape.maximum}`);
}

function checkArray(shape: Shape, value: readonly Json[], at: Place, findings: Findings): void {
  if (shape.minItems !== undefined && value.length < shape.minItems) {
    report(findings, at, `must have at least ${shape.minItems} items`);
  }
  if (shape.maxItems !== undefined && value.length > shape.maxItems) {
    report(findings, at, `can have at most ${shape.maxItems} items`);
    return;
  }
  if (shape.items === undefined) return;
  for (let index = 0; index < value.length; index += 1) {
    check(shape.items, value[index] ?? null, { field: at.field, place: `${at.place}[${index}]` }, findings);
  }
}

function checkObject(shape: Shape, value: JsonObject, at: Place, findings: Findings): void {
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(value, name)) report(findings, memberOf(at, name), 'is missing');
  }
  for (const [name, memberShape] of membersOf(shape)) {
    const member = getOwn(value, name);
    if (member !== undefined) check(memberShape, member, memberOf(at, name), findings);
  }
  if (shape.propertyNames !== undefined) checkNames(shape.propertyNames, value, at, findings);
}

const members = new WeakMap<Shape, readonly (readonly [string, Shape])[]>();

function membersOf(shape: Shape): readonly (readonly [string, Shape])[] {
  const known = members.get(shape) ?? Object.entries(shape.properties ?? {});
  members.set(shape, known);
  return known;
}

function checkNames(shape: Shape, value: JsonObject, at: Place, findings: Findings): void {
  if (shape.pattern === undefined) return;
  const pattern = patternOf(shape.pattern);
  for (const name of Object.keys(value)) {
    if (pattern.test(name)) continue;
    const place = `The property name ${JSON.stringify(excerpt(name, 200))}`;
    report(findings, { field: at.field, place }, shape['x-rule'] ?? `must match ${shape.pattern}`);
    if (findings.found.length >= findings.limit) return;
  }
}

const topPlaces = new Map<string, Place>();

/** @param name a member of the shape, so the number of cached names is bounded */
function memberOf(at: Place, name: string): Place {
  if (at.place === '') {
    const known = topPlaces.get(name) ?? { field: name, place: name };
    topPlaces.set(name, known);
    return known;
  }
  return { field: at.field === '' ? name : at.field, place: `${at.place}.${name}` };
}

function patternOf(source: string): RegExp {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const pattern = new RegExp(source, 'u');
  patterns.set(source, pattern);
  return pattern;
}

function hasType(type: ShapeType | readonly ShapeType[], value: Json): boolean {
  if (typeof type !== 'string') return type.some((one) => hasType(one, value));
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

const typeNames: Record<ShapeType, string> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
};

function typeText(type: ShapeType | readonly ShapeType[]): string {
  return typeof type === 'string' ? typeNames[type] : type.map((one) => typeNames[one]).join(' or ');
}
