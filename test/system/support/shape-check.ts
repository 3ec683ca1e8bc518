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
 * @param document the document that `$ref` refers to @throws Error for a keyword that is not checked here
 */
export function shapeMistakes(document: JsonObject, schema: JsonObject, value: Json, place = '$'): string[] {
  for (const keyword of Object.keys(schema)) {
    if (!known.has(keyword) && !keyword.startsWith('x-')) throw new Error(`${keyword} is not checked`);
  }
  if (typeof schema.$ref === 'string') {
    return shapeMistakes(document, referredTo(document, schema.$ref), value, place);
  }
  const mistakes: string[] = [];
  const types = schema.type === undefined ? null : [schema.type].flat();
  if (types !== null && !types.includes(typeOf(value)) && !(types.includes('number') && isInteger(value))) {
    return [`${place} is ${typeOf(value)}, not ${types.join(' or ')}`];
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    mistakes.push(`${place} is ${JSON.stringify(value)}, none of ${JSON.stringify(schema.enum)}`);
  }
  if (Array.isArray(schema.anyOf)) {
    const ways = schema.anyOf.map((way) =>
      isJsonObject(way) ? shapeMistakes(document, way, value, place) : [],
    );
    if (ways.every((way) => way.length > 0)) mistakes.push(...ways.flat());
  }
  if (typeof value === 'string') mistakes.push(...textMistakes(schema, value, place));
  if (typeof value === 'number') mistakes.push(...numberMistakes(schema, value, place));
  if (Array.isArray(value)) mistakes.push(...listMistakes(document, schema, value, place));
  else if (isJsonObject(value)) mistakes.push(...objectMistakes(document, schema, value, place));
  return mistakes;
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

function textMistakes(schema: JsonObject, value: string, place: string): string[] {
  const mistakes: string[] = [];
  if (schema.format === 'date-time' && new Date(value).toISOString() !== value) {
    mistakes.push(`${place} is no ISO 8601 UTC timestamp: ${value}`);
  }
  if (typeof schema.minLength === 'number' && value.length < schema.minLength)
    mistakes.push(`${place} is short`);
  if (typeof schema.maxLength === 'number' && value.length > schema.maxLength)
    mistakes.push(`${place} is long`);
  if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern, 'u').test(value)) {
    mistakes.push(`${place} does not match ${schema.pattern}`);
  }
  return mistakes;
}

function numberMistakes(schema: JsonObject, value: number, place: string): string[] {
  const tooSmall = typeof schema.minimum === 'number' && value < schema.minimum;
  const tooLarge = typeof schema.maximum === 'number' && value > schema.maximum;
  return tooSmall || tooLarge ? [`${place} is out of range: ${value}`] : [];
}

function listMistakes(document: JsonObject, schema: JsonObject, value: Json[], place: string): string[] {
  const mistakes: string[] = [];
  if (typeof schema.maxItems === 'number' && value.length > schema.maxItems)
    mistakes.push(`${place} is long`);
  if (typeof schema.minItems === 'number' && value.length < schema.minItems)
    mistakes.push(`${place} is short`);
  const { items } = schema;
  if (items === undefined || !isJsonObject(items)) return mistakes;
  return [
    ...mistakes,
    ...value.flatMap((item, index) => shapeMistakes(document, items, item, `${place}[${index}]`)),
  ];
}

function objectMistakes(
  document: JsonObject,
  schema: JsonObject,
  value: JsonObject,
  place: string,
): string[] {
  const required = (schema.required ?? []) as string[];
  const mistakes = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => `${place}.${name} is missing`);
  const properties = (schema.properties ?? {}) as Record<string, JsonObject>;
  for (const [name, member] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
    if (own === false) mistakes.push(`${place}.${name} is not documented`);
    if (isJsonObject(own)) mistakes.push(...shapeMistakes(document, own, member, `${place}.${name}`));
  }
  return mistakes;
}
