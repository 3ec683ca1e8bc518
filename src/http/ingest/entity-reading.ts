/**
 * Turns the bytes of an entity into an entity for the store, or into a list of errors (docs/reference/http.md "Source
 * entities"). Pure, except that only entities that are published at this moment show fields.
 */
import type { SourceEntity } from '../../contract/entity.ts';
import { getOwn, isJsonObject, type Json, type JsonObject, textIn } from '../../contract/json.ts';
import { errorsListedMax, jsonDepthMax } from '../../contract/limits.ts';
import { type PublishTimes, parseMoment, stateAt } from '../../contract/publish-times.ts';
import type { Shape } from '../../contract/shape.ts';
import { bulkEntityShape, plainEntityV1Shape, simplifiedEntityShape } from '../../contract/shapes-ingest.ts';
import { runSync } from '../../lib/cooperative-yield.ts';
import { quoteInexact } from '../../lib/exact-number.ts';
import { quote } from '../../lib/message-text.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { type ShownField, shownFields } from '../../search/fields/infer.ts';
import { type EncodedEntity, encodeEntity } from '../../store/entities/entity-record.ts';
import { notJsonText, parseJson, textOf, unstorable } from '../json-body.ts';
import { type FieldError, validate } from '../routing/validate.ts';
import { inexactErrors, plainProperties, withMarkedNumbers } from './typed-properties.ts';

/** `publishAt` and `unpublishAt` of an entity (docs/reference/http.md "Scheduled publishing"). */
interface ReadTimes {
  /** Null if it is always published. */
  readonly times: PublishTimes | null;
  /** Only errors in strings: the shape of the entity reports all others. */
  readonly errors: readonly FieldError[];
}

const noTimes: ReadTimes = { times: null, errors: [] };

function publishTimesOf(candidate: Json): ReadTimes {
  if (!isJsonObject(candidate)) return noTimes;
  const errors: FieldError[] = [];
  const momentOf = (field: string): number | null => {
    const text = getOwn(candidate, field);
    if (typeof text !== 'string') return null;
    const moment = parseMoment(text);
    if (moment === null) errors.push({ field, text: unreadable(field, text) });
    return moment;
  };
  const [publishAt, unpublishAt] = [momentOf('publishAt'), momentOf('unpublishAt')];
  if (publishAt === null && unpublishAt === null) return { times: null, errors };
  if (publishAt !== null && unpublishAt !== null && unpublishAt <= publishAt) {
    errors.push({ field: 'unpublishAt', text: '`unpublishAt` must be after `publishAt`' });
  }
  return { times: { publishAt, unpublishAt }, errors };
}

function unreadable(field: string, text: string): string {
  return `\`${field}\` must be a time with its offset, such as 2027-01-04T09:00:00+01:00, but is ${quote(text)}`;
}

/** The format of the bytes, with the parts of the entity from path and headers. */
export type EntityForm =
  | ({ readonly kind: 'bulk' } & PropertiesRule)
  | ({ readonly kind: 'simplified'; readonly originId: string } & PropertiesRule)
  /** The format of ingest v1, with `id`, `parentId` and typed properties. */
  | ({ readonly kind: 'typed' } & PropertiesRule)
  | {
      readonly kind: 'raw';
      readonly originId: string;
      readonly type: string;
      readonly url: string | null;
      readonly originParentId: string | null;
      readonly redirects: readonly string[];
      readonly publishAt: string | null;
      readonly unpublishAt: string | null;
    };

interface PropertiesRule {
  /** An entity without `properties` is accepted with none. */
  readonly propertiesOptional: boolean;
}

/** Returns the fields of an entity type whose field types are decided; null for a type without any. */
export type KnownFields = (entityType: string) => ReadonlyMap<string, FieldType> | null;

/** A valid entity, encoded for the store. */
export interface ReadEntity {
  readonly kind: 'entity';
  readonly entity: EncodedEntity;
  /** Fields that are new or get another type; empty if the source group is not auto-indexed, or the entity not published. */
  readonly shown: readonly ShownField[];
}

export type EntityReading =
  | ReadEntity
  | { readonly kind: 'invalid'; readonly originId: string | null; readonly errors: readonly FieldError[] }
  /** The bytes are not JSON; `text` is the error message. */
  | { readonly kind: 'broken'; readonly text: string };

/** Reads one entity from JSON text in UTF-8. @param known of an auto-indexed source group; null for any other */
export function readEntity(bytes: Uint8Array, form: EntityForm, known: KnownFields | null): EntityReading {
  const value = parseJson(bytes);
  if (value === undefined) return { kind: 'broken', text: notJsonText(bytes) };
  let hasLarge = false;
  const reading = readEntityValue(value, form, known, () => {
    hasLarge = true;
  });
  return hasLarge ? (inexactReading(bytes, form) ?? reading) : reading;
}

/** The errors of an entity with numbers that a double cannot hold exactly; null if no such number would be stored. */
function inexactReading(bytes: Uint8Array, form: EntityForm): EntityReading | null {
  const text = textOf(bytes);
  const marked = form.kind === 'typed' ? quoteInexact(text, '') : withMarkedNumbers(text);
  if (marked === null) return null;
  const { candidate, errors } = candidateOf(JSON.parse(marked) as Json, form);
  if (form.kind !== 'typed' && isJsonObject(candidate)) {
    errors.push(...inexactErrors(getOwn(candidate, 'properties') ?? null));
  }
  if (errors.length === 0) return null;
  return { kind: 'invalid', originId: usableOriginId(candidate), errors };
}

/**
 * As `readEntity`, for a parsed value.
 * @param onLarge called if the entity has a number that parsing may have changed
 */
export function readEntityValue(
  value: Json,
  form: EntityForm,
  known: KnownFields | null,
  onLarge: (() => void) | null = null,
): EntityReading {
  const { candidate, errors } = candidateOf(value, form);
  const place = form.kind === 'bulk' ? 'The entity' : 'The body';
  const names = form.kind === 'typed' ? typedNames : ownNames;
  const { times, errors: ofTimes } = names.hasTimes ? publishTimesOf(candidate) : noTimes;
  errors.push(...validate(shapeOf(form), candidate, errorsListedMax - errors.length, place));
  errors.push(...ofTimes);
  if (errors.length === 0) {
    const error = unstorableField(candidate, names, onLarge);
    if (error === null) return readingOf(entityOf(candidate, names, times), known);
    errors.push(error);
  }
  return { kind: 'invalid', originId: usableOriginId(candidate), errors };
}

/** As `readEntity`, for callers that do not store the entity. @param value with its `originId` */
export function readSourceEntity(
  value: Json,
):
  | { readonly kind: 'entity'; readonly entity: SourceEntity }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] } {
  const { times, errors: ofTimes } = publishTimesOf(value);
  const errors = [...validate(bulkEntityShape, value, errorsListedMax, 'The entity'), ...ofTimes];
  const error = errors.length > 0 ? null : unstorableField(value, ownNames, null);
  if (error !== null) errors.push(error);
  return errors.length > 0
    ? { kind: 'invalid', errors }
    : { kind: 'entity', entity: entityOf(value, ownNames, times) };
}

/** A worker decides the field types of an entity that is published later, because until then queries must not see it. */
function readingOf(entity: SourceEntity, known: KnownFields | null): EntityReading {
  const decides = known !== null && stateAt(entity.times, Date.now()) === 'published';
  const shown = decides ? runSync(shownFields(entity.properties, known(entity.type))) : [];
  return { kind: 'entity', entity: encodeEntity(entity), shown };
}

function shapeOf({ kind }: EntityForm): Shape {
  if (kind === 'typed') return plainEntityV1Shape;
  return kind === 'bulk' ? bulkEntityShape : rootedShape;
}

/** The simplified and raw forms take the originId from the path. It is checked as in a bulk entity. */
const rootedShape: Shape = {
  ...bulkEntityShape,
  required: [...(simplifiedEntityShape.required ?? []), 'originId'],
};

/** An entity that is not checked yet. */
interface Candidate {
  readonly candidate: Json;
  /** Errors found while the candidate was built. */
  readonly errors: FieldError[];
}

function candidateOf(value: Json, form: EntityForm): Candidate {
  if (form.kind === 'raw') {
    const { kind: _, redirects, ...members } = form;
    return { candidate: { ...members, redirects: [...redirects], properties: value }, errors: [] };
  }
  if (!isJsonObject(value)) return { candidate: value, errors: [] };
  if (form.propertiesOptional && (getOwn(value, 'properties') ?? null) === null) {
    return candidateOf({ ...value, properties: {} }, { ...form, propertiesOptional: false });
  }
  if (form.kind === 'bulk') return { candidate: value, errors: [] };
  if (form.kind === 'simplified') {
    return { candidate: { ...value, originId: form.originId }, errors: [] };
  }
  const typed = getOwn(value, 'properties');
  if (typed === undefined) return { candidate: value, errors: [] };
  const { properties, errors } = plainProperties(typed);
  return { candidate: { ...value, properties }, errors: [...errors] };
}

function usableOriginId(candidate: Json): string | null {
  if (!isJsonObject(candidate)) return null;
  const originId = getOwn(candidate, 'originId');
  if (originId === undefined || !isString(originId) || !originId.isWellFormed()) return null;
  const shape = bulkEntityShape.properties?.originId ?? {};
  return validate(shape, originId, 1).length === 0 ? originId : null;
}

function isString(value: Json): value is string {
  return typeof value === 'string';
}

/** The names of an entity's ids in a request format, and whether it has times. */
interface FormNames {
  readonly originId: string;
  readonly originParentId: string;
  readonly hasTimes: boolean;
}

const ownNames: FormNames = { originId: 'originId', originParentId: 'originParentId', hasTimes: true };
const typedNames: FormNames = { originId: 'id', originParentId: 'parentId', hasTimes: false };

function unstorableField(
  candidate: Json,
  { originId, originParentId }: FormNames,
  onLarge: (() => void) | null,
): FieldError | null {
  if (!isJsonObject(candidate)) return null;
  for (const field of [originId, 'type', 'url', originParentId, 'redirects', 'properties']) {
    const text = unstorable(getOwn(candidate, field) ?? null, field, jsonDepthMax, onLarge);
    if (text !== null) return { field, text };
  }
  return null;
}

/** Converts a checked candidate into an entity of the store. */
function entityOf(candidate: Json, names: FormNames, times: PublishTimes | null): SourceEntity {
  const fields: JsonObject = isJsonObject(candidate) ? candidate : {};
  const redirects = getOwn(fields, 'redirects');
  const properties = getOwn(fields, 'properties');
  return {
    originId: textIn(fields, names.originId) ?? '',
    type: textIn(fields, 'type') ?? '',
    url: textIn(fields, 'url'),
    originParentId: textIn(fields, names.originParentId),
    redirects: Array.isArray(redirects) ? redirects.filter(isString) : [],
    properties: isJsonObject(properties) ? properties : {},
    ...(times === null ? {} : { times }),
  };
}
