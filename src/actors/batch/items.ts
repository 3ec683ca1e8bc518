/** Index items of a batch: mapped or auto-indexed values, fitted to the types of their index. */

import { type Json, type JsonObject, setOwn } from '../../contract/json.ts';
import { groupBy } from '../../lib/group-by.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { fitField, fitsAsItIs } from '../../search/fields/fit.ts';
import { decidesNothing, inferFieldType } from '../../search/fields/infer.ts';
import type { StoredItem } from '../../store/derived/items.ts';
import type { AutoFields } from '../../store/entities/auto-fields.ts';
import type { Output } from './output.ts';

/** A value, or items of a list, that the type of its field has no place for. */
export interface Misfit {
  readonly field: string;
  /** Null when the index has no room for the field at all. */
  readonly type: FieldType | null;
}

/** Values that fit, in the order given, and which were left out, whole or in part. */
export interface FittedFields {
  readonly fields: JsonObject;
  readonly misfits: readonly Misfit[];
}

const noMisfits: readonly Misfit[] = [];

/**
 * Leaves out nulls silently and misfits noted (contract section 2, "Index schema"). The values themselves when there is
 * nothing to leave out.
 */
export function fitFields(values: JsonObject, types: ReadonlyMap<string, FieldType>): FittedFields {
  return fitWholly(values, types) ? { fields: values, misfits: noMisfits } : fitPartly(values, types);
}

function fitWholly(values: JsonObject, types: ReadonlyMap<string, FieldType>): boolean {
  for (const name of Object.keys(values)) {
    const value: Json = values[name] ?? null;
    const type = types.get(name);
    if (value === null || type === undefined || !fitsAsItIs(type, value)) return false;
  }
  return true;
}

function fitPartly(values: JsonObject, types: ReadonlyMap<string, FieldType>): FittedFields {
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

/** The stored form of an index item; null when the output is none. */
export function storedItem(
  output: Output,
  autoTypes: AutoTypes,
): { item: StoredItem; misfits: readonly Misfit[] } | null {
  const { builder, turn, result } = output;
  const { entity } = turn;
  if (builder.kind !== 'item' || entity === null) return null;
  const mapped = result.kind === 'item' ? result.item : null;
  const values = mapped?.fields ?? decisiveValues(entity.properties);
  const types = builder.schema?.fields ?? autoTypes.typesOf(output);
  const { fields, misfits } = fitFields(values, types);
  const withoutRoom = builder.schema === null ? fieldsWithoutRoom(values, types) : [];
  const { sourceId, originId, stamp } = entity;
  return {
    item: {
      sourceId,
      originId,
      updatedAtMs: Math.floor(stamp / 1000),
      fields,
      fieldsText: JSON.stringify(fields),
      fittedTo: types,
    },
    misfits: withoutRoom.length === 0 ? misfits : [...misfits, ...withoutRoom],
  };
}

/**
 * Without the values that decide nothing: whether an empty list is in the item must not depend on whether another entity
 * had decided the type of its field before.
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
function fieldsWithoutRoom(values: JsonObject, types: ReadonlyMap<string, FieldType>): Misfit[] {
  return Object.keys(values)
    .filter((name) => !types.has(name))
    .map((field) => ({ field, type: null }));
}

/** Field types of the auto-indexed entity types that a batch meets. */
export class AutoTypes {
  readonly #types = new Map<string, ReadonlyMap<string, FieldType>>();

  /** Decides the types of fields that the batch shows for the first time. @throws StoreUnavailableError */
  async decide(autoFields: AutoFields, outputs: readonly Output[]): Promise<void> {
    for (const [key, ofType] of groupBy(outputs.filter(isAutoIndexed), typeKey)) {
      const [first] = ofType;
      if (first?.turn.entity == null) continue;
      const { tenantAlias, sourceId, entity } = first.turn;
      const known = autoFields.known(tenantAlias, sourceId, entity.type);
      const candidates = candidatesOf(ofType, known);
      const types = await autoFields.decide(tenantAlias, sourceId, entity.type, candidates);
      if (types !== null) this.#types.set(key, types);
    }
  }

  /** Takes the types as they are decided now, and decides none. @throws StoreUnavailableError */
  async read(autoFields: AutoFields, outputs: readonly Output[]): Promise<void> {
    for (const [key, [first]] of groupBy(outputs.filter(isAutoIndexed), typeKey)) {
      if (first?.turn.entity == null) continue;
      const { tenantAlias, sourceId, entity } = first.turn;
      const types = await autoFields.read(tenantAlias, sourceId, entity.type);
      if (types !== null) this.#types.set(key, types);
    }
  }

  /** False for an item of an entity type that the source has no room for: it is not made. */
  admits(output: Output): boolean {
    return !isAutoIndexed(output) || this.#types.has(typeKey(output));
  }

  typesOf(output: Output): ReadonlyMap<string, FieldType> {
    return this.#types.get(typeKey(output)) ?? new Map();
  }
}

function isAutoIndexed({ builder }: Output): boolean {
  return builder.kind === 'item' && builder.schema === null;
}

function typeKey({ turn }: Output): string {
  return `${turn.tenantAlias}:${turn.sourceId}:${turn.entity?.type ?? ''}`;
}

function candidatesOf(
  outputs: readonly Output[],
  known: ReadonlyMap<string, FieldType> | null,
): Map<string, FieldType> {
  const candidates = new Map<string, FieldType>();
  for (const { turn } of outputs) {
    const properties = turn.entity?.properties ?? {};
    for (const name of Object.keys(properties)) {
      if (known?.has(name) || candidates.has(name)) continue;
      const type = inferFieldType(properties[name] ?? null);
      if (type !== null) candidates.set(name, type);
    }
  }
  return candidates;
}
