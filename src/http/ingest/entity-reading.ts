/**
 * Turns the bytes of one entity into what the store takes, or into a list of every mistake (docs/reference/http.md
 * "Source entities"). Pure.
 */
import { isUtf8 } from 'node:buffer';
import type { SourceEntity } from '../../contract/entity.ts';
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { jsonDepthMax, mistakesListedMax } from '../../contract/limits.ts';
import type { Shape } from '../../contract/shape.ts';
import { bulkEntityShape, simplifiedEntityShape } from '../../contract/shapes-ingest.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { inferFieldType } from '../../search/fields/infer.ts';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import { encodeEntity } from '../../store/entities/entity-record.ts';
import { type Mistake, mistakesOf } from '../routing/validate.ts';
import { isWellFormed, unstorable } from './inspect-json.ts';

/** How the bytes are to be read, with the parts of the entity that stand in path and headers. */
export type EntityForm =
  | { readonly kind: 'bulk' }
  | { readonly kind: 'simplified'; readonly originId: string }
  | {
      readonly kind: 'raw';
      readonly originId: string;
      readonly type: string;
      readonly url: string | null;
      readonly originParentId: string | null;
      readonly redirects: readonly string[];
    };

/** A property, and the type that its value gives it in an auto-indexed source group. */
export type ShownField = readonly [name: string, type: FieldType];

/** Gives the fields of an entity type whose types are known already; null for a type without any. */
export type KnownFields = (entityType: string) => ReadonlyMap<string, FieldType> | null;

/** An entity that the store takes. */
export interface ReadEntity {
  readonly kind: 'entity';
  readonly entity: EncodedEntity;
  /** Fields that were not known; empty when the source group is not auto-indexed. */
  readonly shown: readonly ShownField[];
}

export type EntityReading =
  | ReadEntity
  | { readonly kind: 'invalid'; readonly originId: string | null; readonly mistakes: readonly Mistake[] }
  /** The bytes are not JSON. */
  | { readonly kind: 'broken' };

/** Reads one entity from JSON text in UTF-8. @param known of an auto-indexed source group; null for any other */
export function readEntity(bytes: Uint8Array, form: EntityForm, known: KnownFields | null): EntityReading {
  const value = parseJson(bytes);
  return value === undefined ? { kind: 'broken' } : readEntityValue(value, form, known);
}

/** As `readEntity`, for a value that is parsed already. */
export function readEntityValue(value: Json, form: EntityForm, known: KnownFields | null): EntityReading {
  const candidate = candidateOf(value, form);
  const mistakes = mistakesOf(
    shapeOf(form),
    candidate,
    mistakesListedMax,
    form.kind === 'bulk' ? 'The entity' : 'The body',
  );
  if (mistakes.length === 0) {
    const mistake = unstorableField(candidate);
    if (mistake === null) return readingOf(entityOf(candidate), known);
    mistakes.push(mistake);
  }
  return { kind: 'invalid', originId: usableOriginId(candidate), mistakes };
}

function readingOf(entity: SourceEntity, known: KnownFields | null): EntityReading {
  const shown = known === null ? [] : shownFields(entity.properties, known(entity.type));
  return { kind: 'entity', entity: encodeEntity(entity), shown };
}

function shownFields(properties: JsonObject, known: ReadonlyMap<string, FieldType> | null): ShownField[] {
  const shown: ShownField[] = [];
  for (const name of Object.keys(properties)) {
    if (known?.has(name) === true) continue;
    const type = inferFieldType(properties[name] ?? null);
    if (type !== null) shown.push([name, type]);
  }
  return shown;
}

/** The value of JSON text in UTF-8; undefined when the bytes are no such text. */
export function parseJson(bytes: Uint8Array): Json | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as Json;
  } catch {
    return undefined;
  }
}

function shapeOf(form: EntityForm): Shape {
  return form.kind === 'bulk' ? bulkEntityShape : rootedShape;
}

/** The single forms take their originId from the path. It is checked like any other. */
const rootedShape: Shape = {
  ...bulkEntityShape,
  required: [...(simplifiedEntityShape.required ?? []), 'originId'],
};

function candidateOf(value: Json, form: EntityForm): Json {
  if (form.kind === 'bulk') return value;
  if (form.kind === 'raw') {
    const { originId, type, url, originParentId, redirects } = form;
    return { originId, type, url, originParentId, redirects: [...redirects], properties: value };
  }
  return isJsonObject(value) ? { ...value, originId: form.originId } : value;
}

function usableOriginId(candidate: Json): string | null {
  if (!isJsonObject(candidate)) return null;
  const originId = getOwn(candidate, 'originId');
  if (originId === undefined || !isString(originId) || !isWellFormed(originId)) return null;
  const shape = bulkEntityShape.properties?.originId ?? {};
  return mistakesOf(shape, originId, 1).length === 0 ? originId : null;
}

function isString(value: Json): value is string {
  return typeof value === 'string';
}

const storedFields = ['originId', 'type', 'url', 'originParentId', 'redirects', 'properties'] as const;

function unstorableField(candidate: Json): Mistake | null {
  if (!isJsonObject(candidate)) return null;
  for (const field of storedFields) {
    const text = unstorable(getOwn(candidate, field) ?? null, field, jsonDepthMax);
    if (text !== null) return { field, text };
  }
  return null;
}

/** A checked candidate as the store's entity. */
function entityOf(candidate: Json): SourceEntity {
  const fields: JsonObject = isJsonObject(candidate) ? candidate : {};
  const text = (name: string) => {
    const value = getOwn(fields, name);
    return typeof value === 'string' ? value : null;
  };
  const redirects = getOwn(fields, 'redirects');
  const properties = getOwn(fields, 'properties');
  return {
    originId: text('originId') ?? '',
    type: text('type') ?? '',
    url: text('url'),
    originParentId: text('originParentId'),
    redirects: Array.isArray(redirects) ? redirects.filter(isString) : [],
    properties: isJsonObject(properties) ? properties : {},
  };
}
