/** An index item: mapped or auto-indexed values, fitted to the types of their index. */

import { type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { assert } from '../../lib/assert.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { fitField, fitsAsItIs } from '../../search/fields/fit.ts';
import { decidesNothing } from '../../search/fields/infer.ts';
import type { StoredItem } from '../../store/derived/items.ts';
import type { Output } from './output.ts';

type FieldTypes = ReadonlyMap<string, FieldType>;

/** A value, or items of a list, that the type of its field has no place for. */
export interface Misfit {
  readonly field: string;
  /** Null when the index has no room for the field at all. */
  readonly type: FieldType | null;
}

/** Values that fit, in the order given, and which were left out, whole or in part. */
interface FittedFields {
  readonly fields: JsonObject;
  readonly misfits: readonly Misfit[];
}

export const noMisfits: readonly Misfit[] = [];

/**
 * Leaves out nulls silently and misfits noted (docs/reference/indexes-and-queries.md "Field types"). The values themselves
 * when there is nothing to leave out.
 */
function fitFields(values: JsonObject, types: FieldTypes): FittedFields {
  return fitWholly(values, types) ? { fields: values, misfits: noMisfits } : fitPartly(values, types);
}

function fitWholly(values: JsonObject, types: FieldTypes): boolean {
  for (const name of Object.keys(values)) {
    const value: Json = values[name] ?? null;
    const type = types.get(name);
    if (value === null || type === undefined || !fitsAsItIs(type, value)) return false;
  }
  return true;
}

function fitPartly(values: JsonObject, types: FieldTypes): FittedFields {
  const fields: JsonObject = {};
  const misfits: Misfit[] = [];
  for (const name of Object.keys(values)) {
    const value: Json = values[name] ?? null;
    const type = types.get(name);
    if (value === null || type === undefined) continue;
    const fitted = fitField(type, value);
    if (fitted.ok) setOwn(fields, name, fitted.value);
    if (!fitted.ok || fitted.leftOut > 0) misfits.push({ field: name, type });
  }
  return { fields, misfits };
}

/** The item of an output that an item builder made. */
export function itemOf(
  { builder, turn, result }: Output,
  autoTypes: FieldTypes,
): { item: StoredItem; misfits: readonly Misfit[] } {
  const { entity } = turn;
  assert(builder.kind === 'item' && entity !== null, 'the output is an index item of an entity');
  const mapped = result.kind === 'item' ? result.item : null;
  const values = mapped?.fields ?? decisiveValues(entity.properties);
  const types = builder.schema?.fields ?? autoTypes;
  const { fields, misfits } = fitFields(values, types);
  const withoutRoom = builder.schema === null ? fieldsWithoutRoom(values, types) : [];
  const { sourceId, originId, stamp } = entity;
  const fieldsText = JSON.stringify(fields);
  const updatedAtMs = Math.floor(stamp / 1000);
  return {
    item: { sourceId, originId, updatedAtMs, fields, fieldsText, fittedTo: types },
    misfits: withoutRoom.length === 0 ? misfits : [...misfits, ...withoutRoom],
  };
}

/**
 * Leaves out values that decide no type, such as an empty list. Whether one is in the item must not depend on whether
 * another entity had decided the type of its field before.
 */
function decisiveValues(properties: JsonObject): JsonObject {
  const names = Object.keys(properties);
  if (names.every((name) => isDecisive(properties, name))) return properties;
  const values: JsonObject = {};
  for (const name of names) {
    if (isDecisive(properties, name)) setOwn(values, name, properties[name] ?? null);
  }
  return values;
}

function isDecisive(properties: JsonObject, name: string): boolean {
  return !decidesNothing(properties[name] ?? null);
}

/** Values that would have decided the type of their field, and did not. */
function fieldsWithoutRoom(values: JsonObject, types: FieldTypes): Misfit[] {
  return Object.keys(values)
    .filter((name) => !types.has(name))
    .map((field) => ({ field, type: null }));
}
