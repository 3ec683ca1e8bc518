/**
 * Pieces of the JSON Schemas (draft 7) that editors check configuration files with. They say what `check` says of the form
 * of a file; `test/config/json-schemas` holds the two together.
 */
import type { Json, JsonObject } from '../../contract/json.ts';
import { configNameCharactersMax } from '../../contract/limits.ts';

export type JsonSchema = JsonObject;

export const anyText: JsonSchema = { type: 'string' };
export const filledText: JsonSchema = { type: 'string', minLength: 1 };
export const truth: JsonSchema = { type: 'boolean' };

export const alias = nameOf('^[A-Za-z0-9_-]+$');
export const id = nameOf('^[A-Za-z0-9._-]+$');

function nameOf(pattern: string): JsonSchema {
  return { type: 'string', pattern, maxLength: configNameCharactersMax };
}

export const listOf = (items: JsonSchema, limits: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  ...limits,
});

export const oneOf = (values: readonly Json[]): JsonSchema => ({ enum: [...values] });

export const refTo = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

/** An object with these members and no others. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
}

export const mapOf = (values: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: values });

export const told = (description: string, schema: JsonSchema): JsonSchema => ({ description, ...schema });

/** A whole file: an object that may name its JSON Schema. */
export function fileOf(
  title: string,
  properties: Readonly<Record<string, JsonSchema>>,
  rest: JsonSchema = {},
): JsonSchema {
  const { additionalProperties, ...object } = objectOf({
    $schema: told('Where editors find the JSON Schema of this file.', anyText),
    ...properties,
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    ...object,
    additionalProperties: additionalProperties ?? false,
    ...rest,
  };
}
