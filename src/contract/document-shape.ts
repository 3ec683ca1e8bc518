/**
 * Building blocks for the shapes of configuration documents, which are JSON Schemas (draft 7). The readers only use the allowed
 * members of objects; editors use everything.
 */
import type { Json, JsonObject } from './json.ts';
import { anyString } from './shape.ts';

export type JsonSchema = JsonObject;

/** The schema of an object with certain members and no others. */
export type ObjectShape = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

/** The schema of an integer in a range. */
export type WholeNumberShape = JsonSchema & { readonly minimum: number; readonly maximum: number };

export const nonEmptyString: JsonSchema = { type: 'string', minLength: 1 };

export const listOf = (items: JsonSchema, limits: JsonSchema = {}): JsonSchema => ({
  type: 'array',
  items,
  ...limits,
});

export const oneOf = (values: readonly Json[]): JsonSchema => ({ enum: [...values] });

export const refTo = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` });

export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): ObjectShape {
  return {
    type: 'object',
    properties: { ...properties },
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
}

export function wholeNumber(minimum: number, maximum: number): WholeNumberShape {
  return { type: 'integer', minimum, maximum };
}

export const mapOf = (values: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: values });

export function described<S extends JsonSchema>(description: string, schema: S): S {
  return { description, ...schema };
}

/** The schema of a whole file: an object that may name its JSON Schema. */
export function fileOf(
  title: string,
  { properties, ...object }: ObjectShape,
  rest: JsonSchema = {},
): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    type: 'object',
    properties: {
      $schema: described('Where editors find the JSON Schema of this file.', anyString),
      ...properties,
    },
    ...object,
    ...rest,
  };
}
