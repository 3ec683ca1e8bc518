import type { FieldTypeName } from '../../schemas/definition/index-fields.ts';
import {
  anyJson,
  boolean,
  listOf,
  named,
  number,
  type ObjectType,
  type Type,
  text,
  unionOf,
} from './type.ts';

const range = named('Range');
const place = named('Place');
const numberOrText = unionOf([number, text]);

/** Values come back as they were sent (docs/reference/indexes-and-queries.md "Field types"). */
const scalarTypes: Readonly<Record<string, Type>> = {
  ...{ keyword: text, text, boolean, object: anyJson },
  ...{ integer: number, float: number, double: number },
  // Text of digits, and epoch milliseconds, are taken too.
  ...{ long: numberOrText, date: numberOrText },
  ...{ integerRange: range, longRange: range, floatRange: range, doubleRange: range, dateRange: range },
  geoPoint: place,
};

/** An item of an index: a value that is null or does not fit is absent. */
export function itemType(fields: ReadonlyMap<string, FieldTypeName>): ObjectType {
  const members = [...fields].map(([name, type]) => ({ name, type: fieldType(type), isOptional: true }));
  return { kind: 'object', members, isOpen: false };
}

function fieldType(type: FieldTypeName): Type {
  if (!type.endsWith('[]')) return scalarTypes[type] ?? anyJson;
  return listOf(scalarTypes[type.slice(0, -2)] ?? anyJson);
}

/** What `Range` and `Place` stand for. */
export const itemTypesText = `/** One side may be open. */
export interface Range {
  readonly gt?: number | string;
  readonly gte?: number | string;
  readonly lt?: number | string;
  readonly lte?: number | string;
}

/** Degrees; a list is longitude, latitude. */
export type Place = { readonly lat: number; readonly lon: number } | readonly [number, number];
`;
