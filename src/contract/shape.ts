/**
 * The subset of JSON Schema (2020-12, as in OpenAPI 3.1) that validates requests and is published at `/openapi.json`: one
 * definition for both.
 */
import type { Json, JsonObject } from './json.ts';

export type ShapeType = 'null' | 'boolean' | 'number' | 'integer' | 'string' | 'array' | 'object';

export interface Shape {
  /** Name under which the OpenAPI document lists the shape once, so that generated clients have a type with that name. */
  readonly component?: string;
  /** The noun for list items in the errors of a query: `101 keys`. Not in the OpenAPI document. */
  readonly itemsName?: string;
  readonly type?: ShapeType | readonly ShapeType[];
  /** The value matches at least one of these shapes. */
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
  /** Only for parameters, because generated clients treat a member with a default as required. */
  readonly default?: Json;
  readonly examples?: readonly Json[];
  /** The rule for values that do not match `pattern` or `anyOf`; completes the sentence "url …". */
  readonly 'x-rule'?: string;
}

/** The type of the values of a shape. It needs a declaration with `satisfies Shape`, which keeps the literal types. */
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

/** One object type instead of an intersection, for readable messages. */
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

export const anyString = { type: 'string' } as const satisfies Shape;
export const strings = { type: 'array', items: anyString } as const satisfies Shape;
export const count = { type: 'integer', minimum: 0 } as const satisfies Shape;
export const integer = { type: 'integer' } as const satisfies Shape;
export const anyBoolean = { type: 'boolean' } as const satisfies Shape;
export const time = { type: 'string', format: 'date-time' } as const satisfies Shape;
export const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const satisfies Shape;
export const stringOrNull = { type: ['string', 'null'] } as const satisfies Shape;
export const countOrNull = { type: ['integer', 'null'] } as const satisfies Shape;

interface ObjectShape<P extends Readonly<Record<string, Shape>>, Optional> extends Shape {
  readonly type: 'object';
  readonly properties: P;
  readonly required: readonly Exclude<keyof P & string, Optional>[];
}

/** An object with these members, all of them required except `optional`. */
export function object<
  const P extends Readonly<Record<string, Shape>>,
  const Optional extends keyof P & string = never,
>(properties: P, optional: readonly Optional[] = []): ObjectShape<P, Optional> {
  const isRequired = (name: string): name is Exclude<keyof P & string, Optional> =>
    !optional.some((left) => left === name);
  return { type: 'object', properties, required: Object.keys(properties).filter(isRequired) };
}

export function list<const Item extends Shape>(items: Item) {
  return { type: 'array', items } as const;
}
