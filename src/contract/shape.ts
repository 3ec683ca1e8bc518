/**
 * The subset of JSON Schema (2020-12, as OpenAPI 3.1 has it) that requests are checked with and that the document at
 * `/openapi.json` shows: one definition for both.
 */
import type { Json } from './json.ts';

export type ShapeType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';

export interface Shape {
  /** Name under which the document lists the shape once, so that generated clients have a type of that name. */
  readonly component?: string;
  readonly type?: ShapeType | readonly ShapeType[];
  /** The value has one of these shapes at least. */
  readonly anyOf?: readonly Shape[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Shape;
  readonly additionalProperties?: Shape | boolean;
  /** For parameters alone: generated clients treat a member with a default as one that must be sent. */
  readonly default?: Json;
  readonly examples?: readonly Json[];
  /** What a value that breaks `pattern` or `anyOf` must do instead; completes the sentence "url …". */
  readonly 'x-rule'?: string;
}
