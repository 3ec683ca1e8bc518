/** Checks JSON against the schemas of an OpenAPI document, and shares no code with the front. */
import { isJsonObject, type Json, type JsonObject } from '../../../src/contract/json.ts';

const known = new Set([
  '$ref',
  'type',
  'anyOf',
  'enum',
  'items',
  'propertyNames',
  'properties',
  'required',
  'additionalProperties',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'pattern',
  'description',
  'examples',
  'default',
]);

/**
 * The errors of a value, each with its position.
 * @param document the document that `$ref` refers to
 * @throws Error for a keyword that is not checked here
 */
export function shapeErrors(document: JsonObject, schema: JsonObject, value: Json, place = '$'): string[] {
  for (const keyword of Object.keys(schema)) {
    if (!known.has(keyword) && !keyword.startsWith('x-')) throw new Error(`${keyword} is not checked`);
  }
  if (typeof schema.$ref === 'string') {
    return shapeErrors(document, referredTo(document, schema.$ref), value, place);
  }
  const errors: string[] = [];
  const types = schema.type === undefined ? null : [schema.type].flat();
  if (types !== null && !types.includes(typeOf(value)) && !(types.includes('number') && isInteger(value))) {
    return [`${place} is ${typeOf(value)}, not ${types.join(' or ')}`];
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    errors.push(`${place} is ${JSON.stringify(value)}, none of ${JSON.stringify(schema.enum)}`);
  }
  if (Array.isArray(schema.anyOf)) {
    const ways = schema.anyOf.map((way) =>
      isJsonObject(way) ? shapeErrors(document, way, value, place) : [],
    );
    if (ways.every((way) => way.length > 0)) errors.push(...ways.flat());
  }
  if (typeof value === 'string') errors.push(...textErrors(schema, value, place));
  if (typeof value === 'number') errors.push(...numberErrors(schema, value, place));
  if (Array.isArray(value)) errors.push(...listErrors(document, schema, value, place));
  else if (isJsonObject(value)) errors.push(...objectErrors(document, schema, value, place));
  return errors;
}

function referredTo(document: JsonObject, reference: string): JsonObject {
  let at: Json = document;
  for (const name of reference.split('/').slice(1)) at = isJsonObject(at) ? (at[name] ?? null) : null;
  if (!isJsonObject(at)) throw new Error(`${reference} leads nowhere`);
  return at;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isInteger(value) ? 'integer' : typeof value;
}

function isInteger(value: Json): boolean {
  return typeof value === 'number' && Number.isInteger(value);
}

function textErrors(schema: JsonObject, value: string, place: string): string[] {
  const errors: string[] = [];
  if (schema.format === 'date-time' && new Date(value).toISOString() !== value) {
    errors.push(`${place} is no ISO 8601 UTC timestamp: ${value}`);
  }
  if (typeof schema.minLength === 'number' && value.length < schema.minLength)
    errors.push(`${place} is short`);
  if (typeof schema.maxLength === 'number' && value.length > schema.maxLength)
    errors.push(`${place} is long`);
  if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern, 'u').test(value)) {
    errors.push(`${place} does not match ${schema.pattern}`);
  }
  return errors;
}

function numberErrors(schema: JsonObject, value: number, place: string): string[] {
  const tooSmall = typeof schema.minimum === 'number' && value < schema.minimum;
  const tooLarge = typeof schema.maximum === 'number' && value > schema.maximum;
  return tooSmall || tooLarge ? [`${place} is out of range: ${value}`] : [];
}

function listErrors(document: JsonObject, schema: JsonObject, value: Json[], place: string): string[] {
  const errors: string[] = [];
  if (typeof schema.maxItems === 'number' && value.length > schema.maxItems) errors.push(`${place} is long`);
  if (typeof schema.minItems === 'number' && value.length < schema.minItems) errors.push(`${place} is short`);
  const { items } = schema;
  if (items === undefined || !isJsonObject(items)) return errors;
  return [
    ...errors,
    ...value.flatMap((item, index) => shapeErrors(document, items, item, `${place}[${index}]`)),
  ];
}

function objectErrors(document: JsonObject, schema: JsonObject, value: JsonObject, place: string): string[] {
  const required = (schema.required ?? []) as string[];
  const errors = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${place}.${name} is missing`);
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    if (own === false) errors.push(`${place}.${name} is not documented`);
    if (isJsonObject(own)) errors.push(...shapeErrors(document, own, member, `${place}.${name}`));
  }
  return errors;
}
