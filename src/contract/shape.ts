/**
 * The subset of JSON Schema (2020-12, as OpenAPI 3.1 has it) that requests are checked with and that the document at
 * `/openapi.json` shows: one definition for both.
 */
import type { Json, JsonObject } from './json.ts';

export type ShapeType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';

export interface Shape {
  /** Name under which the document lists the shape once, so that generated clients have a type of that name. */
  readonly component?: string;
  /** The noun for list items in the errors of a query: `101 keys`. Not in documents. */
  readonly itemsName?: string;
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
  readonly exclusiveMinimum?: number;
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

/** The type of the values that a shape describes. A shape keeps what this needs if it is declared with `satisfies Shape`. */
export type ValueOf<S> = S extends { readonly anyOf: readonly (infer One)[] }
  ? ValueOf<One>
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly type: infer T }
      ? T extends readonly (infer One)[]
        ? ValueOfType<One, S>
        : ValueOfType<T, S>
      : unknown;

type ValueOfType<T, S> = T extends 'null'
  ? null
  : T extends 'boolean'
    ? boolean
    : T extends 'number' | 'integer'
      ? number
      : T extends 'string'
        ? string
        : T extends 'array'
          ? readonly (S extends { readonly items: infer Item } ? ValueOf<Item> : unknown)[]
          : ObjectOf<S>;

/** One object type in place of an intersection, for messages that can be read. */
type Flat<T> = { [K in keyof T]: T[K] };

type ObjectOf<S> = S extends { readonly properties: infer P }
  ? Flat<
      { readonly [K in keyof P & RequiredOf<S>]: ValueOf<P[K]> } & {
        readonly [K in Exclude<keyof P, RequiredOf<S>>]?: ValueOf<P[K]>;
      }
    >
  : S extends { readonly additionalProperties: infer Value extends object }
    ? Readonly<Record<string, ValueOf<Value>>>
    : JsonObject;

type RequiredOf<S> = S extends { readonly required: readonly (infer Required)[] } ? Required : never;
