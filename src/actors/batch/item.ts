/** Builds index items: mapped or auto-indexed values, converted to the field types of their index. */

import { type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { namesOf } from '../../contract/large-json/parse-in-parts.ts';
import { stringified } from '../../contract/large-json/stringify-in-parts.ts';
import { diagnosticsPerBuildMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { BuiltItem } from '../../schemas/build/build-outcome.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { fitAutoField, fitField } from '../../search/fields/fit.ts';
import { decidesNothing } from '../../search/fields/infer.ts';
import { hasMembers, pathValues } from '../../search/fields/paths.ts';
import type { StoredItem } from '../../store/derived/item-record.ts';
import type { Output } from './output.ts';

type FieldTypes = ReadonlyMap<string, FieldType>;

/** A value or list items that do not fit the type of their field. */
export interface Misfit {
  readonly field: string;
  /** Null if the index has no room for the field. */
  readonly type: FieldType | null;
}

/** Values that fit, in the given order, and the first misfits, which are omitted completely or partially. */
interface FittedFields {
  readonly fields: JsonObject;
  /** At most `diagnosticsPerBuildMax`. */
  readonly misfits: readonly Misfit[];
}

/** The approximate cost of checking a field, in units of the work budget. */
const unitsPerField = 50;

export const noMisfits: readonly Misfit[] = [];

/**
 * Omits nulls silently, and reports omitted misfits (docs/reference/indexes-and-queries.md "Field types"). Returns the same
 * object if nothing is omitted.
 * @param isAuto keep values that do not decide a type, regardless of the type of their field
 */
function* fitFields(values: JsonObject, types: FieldTypes, isAuto: boolean): Steps<FittedFields> {
  const fit = isAuto ? fitAutoField : fitField;
  const fields: JsonObject = {};
  const misfits: Misfit[] = [];
  let isWhole = true;
  for (const name of namesOf(values)) {
    if (workBudget.isOver()) yield;
    const value: Json = values[name] ?? null;
    const type = types.get(name);
    workBudget.units += unitsPerField;
    if (isAuto && decidesNothing(value)) setOwn(fields, name, value);
    else if (value === null || type === undefined) isWhole = false;
    else {
      const made = fit(type, value);
      const fitted = made instanceof Suspended ? yield* made.steps : made;
      if (fitted.ok) setOwn(fields, name, fitted.value);
      isWhole &&= fitted.ok && fitted.value === value;
      const isMisfit = !fitted.ok || fitted.leftOut > 0;
      if (isMisfit && misfits.length < diagnosticsPerBuildMax) misfits.push({ field: name, type });
    }
  }
  return { fields: isWhole ? values : fields, misfits };
}

/** The index item of an output. */
export function* itemOf(
  { builder, turn, result }: Output,
  autoTypes: FieldTypes,
): Steps<{ item: StoredItem; misfits: readonly Misfit[] }> {
  const { entity } = turn;
  assert(builder.kind === 'item' && entity !== null, 'the output is an index item of an entity');
  const mapped = result.kind === 'item' ? result.item : null;
  const isLarge = mapped?.isLarge ?? entity.isLarge === true;
  const types = builder.schema?.fields ?? autoTypes;
  const { sourceId, originId, stamp } = entity;
  const updatedAtMs = Math.floor(stamp / 1000);
  const values = mapped?.fields ?? (yield* presentValues(entity.properties));
  const { fields, misfits } = yield* fitFields(values, types, builder.schema === null);
  const written = fieldsTextOf(mapped, fields, isLarge);
  const fieldsText = written instanceof Suspended ? yield* written.steps : written;
  const others = builder.schema === null ? yield* autoMisfits(values, types) : noMisfits;
  return {
    item: { sourceId, originId, updatedAtMs, fields, fieldsText, fittedTo: types },
    misfits: others.length === 0 ? misfits : [...misfits, ...others],
  };
}

/** The fields of an item as JSON, which most builds have already serialized. */
function fieldsTextOf(mapped: BuiltItem | null, fields: JsonObject, isLarge: boolean): Resumable<string> {
  if (mapped !== null && mapped.text !== null && fields === mapped.fields) return mapped.text;
  return isLarge ? stringified(fields) : JSON.stringify(fields);
}

/**
 * Omits nulls, also in lists that do not decide a type. Whether an item has an empty string or list must not depend on whether
 * another entity has already decided the type of its field.
 */
function* presentValues(properties: JsonObject): Steps<JsonObject> {
  const names = namesOf(properties);
  if (names.every((name) => isPresent(properties[name] ?? null))) return properties;
  const values: JsonObject = {};
  for (const name of names) {
    if (workBudget.isOver()) yield;
    workBudget.units += unitsPerField;
    const value = properties[name] ?? null;
    if (isPresent(value)) setOwn(values, name, value);
    else if (Array.isArray(value)) {
      setOwn(
        values,
        name,
        value.filter((item) => item !== null),
      );
    }
  }
  return values;
}

function isPresent(value: Json): boolean {
  return value !== null && !(Array.isArray(value) && decidesNothing(value) && value.includes(null));
}

/** Properties that the index has no room for, and object members that do not fit or have no room. */
function* autoMisfits(values: JsonObject, types: FieldTypes): Steps<readonly Misfit[]> {
  const misfits = fieldsWithoutRoom(values, types);
  if (!namesOf(values).some((name) => hasMembers(values[name] ?? null))) return misfits;
  for (const [field, value] of yield* pathValues(values)) {
    if (misfits.length >= diagnosticsPerBuildMax) break;
    if (decidesNothing(value)) continue;
    const type = types.get(field) ?? null;
    const made = type === null ? null : fitAutoField(type, value);
    const fit = made instanceof Suspended ? yield* made.steps : made;
    if (fit === null || !fit.ok || fit.leftOut > 0) misfits.push({ field, type });
  }
  return misfits;
}

/** The first fields that have no type although their values would decide one. */
function fieldsWithoutRoom(values: JsonObject, types: FieldTypes): Misfit[] {
  const misfits: Misfit[] = [];
  for (const field of namesOf(values)) {
    if (!types.has(field) && !decidesNothing(values[field] ?? null)) misfits.push({ field, type: null });
    if (misfits.length >= diagnosticsPerBuildMax) break;
  }
  return misfits;
}
