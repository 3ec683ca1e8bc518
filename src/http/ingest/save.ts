/**
 * Saves entities (docs/reference/http.md "Saving one entity"): the endpoints for a single entity, `POST /ingest/v2/{originId}`
 * and `POST /ingest/v1`, and `saveRead`, which `bulk.ts` uses too.
 */

import type { SourcePrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { entityBytesMax, inlineBodyBytesMax } from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import type { FieldType } from '../../search/fields/field-type.ts';
import { isNews, recordShown } from '../../search/fields/infer.ts';
import { type AcceptOutcome, type AcceptRequest, acceptEntities } from '../../store/entities/accept.ts';
import { readEntities } from '../../store/entities/entities.ts';
import type { EncodedEntity } from '../../store/entities/entity-record.ts';
import type { Store } from '../../store/store.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { errorsByField } from '../routing/validate.ts';
import type { Services } from '../services.ts';
import {
  type EntityForm,
  type EntityReading,
  type KnownFields,
  type ReadEntity,
  readEntity,
} from './entity-reading.ts';
import {
  forcesType,
  pathOriginId,
  recordTraceOf,
  typeConflictText,
  type Written,
  writeHandler,
} from './write-handler.ts';
import type { WriteKind } from './writes-under-way.ts';

/** Size of the encoded entities in one call to the store. All but the largest requests are one portion. */
const portionBytes = 4 * 1024 * 1024;
/** The work of an entity is 1, plus 1 for each of this many bytes. */
const bytesOfWork = 4096;

export function saveEntity(services: Services): Handler {
  return saving(services, (call) => singleForm(call, pathOriginId(call)));
}

export function saveEntityV1(services: Services): Handler {
  return saving(services, ({ source }) => ({
    kind: 'typed',
    propertiesOptional: source.source.propertiesOptional,
  }));
}

function saving(services: Services, formOf: (call: Call) => EntityForm): Handler {
  return writeHandler(services, async (call) => {
    const form = formOf(call);
    const bytes = await call.body.bytes(entityBytesMax, problems.entityTooLarge);
    const reading = await read(services, call, bytes, form);
    if (reading.kind === 'broken') throw new ProblemError(problems.bodyNotJson(reading.text));
    if (reading.kind === 'invalid')
      throw new ProblemError(problems.entityInvalid(errorsByField(reading.errors)));
    return save(services, call, reading);
  });
}

function read(
  services: Services,
  call: Call,
  bytes: Buffer<ArrayBuffer>,
  form: EntityForm,
): Promise<EntityReading> {
  const { entityReader } = services;
  const known = knownFields(services, call.source);
  return bytes.length <= inlineBodyBytesMax
    ? entityReader.here.run(() => readEntity(bytes, form, known))
    : entityReader.readElsewhere(bytes, form, known);
}

async function save(services: Services, call: Call, read: ReadEntity): Promise<Written> {
  const { outcomes, version } = await saveRead(services, call, 'single', [read]);
  if (outcomes[0] === 'typeConflict') {
    throw new ProblemError(problems.entityInvalid({ type: typeConflictText(services) }));
  }
  const message = outcomes[0] === 'changed' ? 'Processing of the entity has begun' : 'Entity is unchanged';
  return { answer: jsonAnswer(200, { status: 200, message }), version };
}

/** The format of a single save: raw if it has a Type header, otherwise simplified. */
function singleForm(call: Call, originId: string): EntityForm {
  const type = call.header('type');
  if (type === '') {
    return { kind: 'simplified', originId, propertiesOptional: call.source.source.propertiesOptional };
  }
  return {
    kind: 'raw',
    originId,
    type,
    url: textOrNull(call.header('url')),
    originParentId: textOrNull(call.header('originparentid')),
    redirects: redirectsOf(call.header('redirects')),
    publishAt: textOrNull(call.header('publish-at')),
    unpublishAt: textOrNull(call.header('unpublish-at')),
  };
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

/** The items of a comma-separated list, trimmed and without empty ones (RFC 9110, section 5.6.1). */
function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/**
 * A part that does not begin like a URL is most likely the rest of a URL with a comma.
 * @throws ProblemError `entityInvalid`
 */
function redirectsOf(text: string): string[] {
  const redirects = listOf(text);
  const rest = redirects.slice(1).find((redirect) => !/^(?:\/|https?:\/\/)/i.test(redirect));
  if (rest === undefined) return redirects;
  const error = `\`redirects\` contains ${quote(rest)} after a comma, which is not a URL. Write a comma inside a URL as %2C`;
  throw new ProblemError(problems.entityInvalid({ redirects: error }));
}

interface Saved {
  /** Outcomes in the order of the entities. */
  readonly outcomes: readonly AcceptOutcome[];
  /** The version at which the entities are visible. */
  readonly version: VersionVector;
}

/**
 * Decides the new fields of entities and stores them, no faster than the workers process entities. A large request is stored in
 * portions, because one write of 200 MB would block every other request of this front.
 * @throws StoreUnavailableError; ProblemError `ingestBusy`
 */
export async function saveRead(
  services: Services,
  call: Call,
  kind: WriteKind,
  read: readonly ReadEntity[],
): Promise<Saved> {
  const { tenant, source } = call.source;
  const force = forcesType(call);
  const entities = read.map(({ entity }) => entity);
  const write = { kind, tenant: tenant.alias, work: workOf(entities) };
  return await services.pace.accept(write, async () => {
    await decideFields(services, call.source, read, force);
    await recordTraceOf(
      services,
      call,
      entities.map(({ originId }) => originId),
    );
    const request = { tenant: tenant.alias, sourceId: source.id, force, entities };
    const accepted = await acceptInPortions(services.store, request);
    return { ...accepted, changedShare: changedShareOf(accepted.outcomes) };
  });
}

/** Estimates the cost of entities for the workers, in small entities. Other costs show up in the processing time. */
function workOf(entities: readonly Pick<EncodedEntity, 'size'>[]): number {
  return entities.reduce((sum, { size }) => sum + 1 + size / bytesOfWork, 0);
}

/** An entity that changes nothing causes no work. */
function changedShareOf(outcomes: readonly AcceptOutcome[]): number {
  return outcomes.filter((outcome) => outcome === 'changed').length / Math.max(1, outcomes.length);
}

/** Stores portions one after the other, to preserve the order of the entities. */
async function acceptInPortions(store: Store, request: AcceptRequest): Promise<Saved> {
  const outcomes: AcceptOutcome[] = [];
  const version = new Map<number, number>();
  for (const entities of portionsOf(request.entities)) {
    const accepted = await acceptEntities(store, { ...request, entities });
    outcomes.push(...accepted.outcomes);
    for (const [partition, sequence] of accepted.version) {
      version.set(partition, Math.max(sequence, version.get(partition) ?? 0));
    }
  }
  return { outcomes, version };
}

function portionsOf(entities: readonly EncodedEntity[]): EncodedEntity[][] {
  const portions: EncodedEntity[][] = [];
  let bytes = 0;
  for (const entity of entities) {
    const portion = portions.at(-1);
    bytes += entity.size;
    if (portion !== undefined && bytes <= portionBytes) {
      portion.push(entity);
      continue;
    }
    portions.push([entity]);
    bytes = entity.size;
  }
  return portions;
}

/** The decided fields of a source that this front knows; null if its source group is not auto-indexed. */
export function knownFields(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
): KnownFields | null {
  if (tenant.sourceGroups.get(source.sourceGroup)?.autoIndex !== true) return null;
  return (entityType) => autoFields.known(tenant.alias, source.id, entityType);
}

/**
 * Decides the types of new fields of auto-indexed source groups, and of date fields that get a string that is not a date. Only
 * these need a call to Redis. "The first value that is not null decides" (docs/reference/indexes-and-queries.md "Auto-indexed
 * source groups"): the first in the order of requests, and of the entities in a request. There is no such order across
 * partitions, so the front decides. An entity that will be refused for its type is ignored.
 * @param force true if the request lets entities change their type.
 * @throws StoreUnavailableError
 */
async function decideFields(
  services: Services,
  principal: SourcePrincipal,
  read: readonly ReadEntity[],
  force: boolean,
): Promise<void> {
  const { tenant, source } = principal;
  const showing = read.filter((reading) => showsNew(services, principal, reading));
  if (showing.length === 0) return;
  const deciding = force ? showing : await withoutConflicts(services, principal, showing);
  for (const [type, candidates] of candidatesByType(deciding)) {
    await services.autoFields.decide(tenant.alias, source.id, type, candidates);
  }
}

/** Checks again whether fields are new, because the thread that reads large entities does not have the known fields. */
function showsNew(
  { autoFields }: Services,
  { tenant, source }: SourcePrincipal,
  { entity, shown }: ReadEntity,
): boolean {
  if (shown.length === 0) return false;
  const known = autoFields.known(tenant.alias, source.id, entity.type);
  const isFull = autoFields.isFull(tenant.alias, source.id, entity.type);
  return shown.some((field) => (isFull ? known?.has(field[0]) === true : true) && isNews(field, known));
}

async function withoutConflicts(
  { store }: Services,
  { tenant, source }: SourcePrincipal,
  readings: readonly ReadEntity[],
): Promise<ReadEntity[]> {
  const refs = readings.map(({ entity }) => ({ sourceId: source.id, originId: entity.originId }));
  const stored = await readEntities(store, tenant.alias, refs);
  return readings.filter(({ entity }, index) => (stored[index]?.type ?? entity.type) === entity.type);
}

function candidatesByType(readings: readonly ReadEntity[]): Map<string, Map<string, FieldType>> {
  const byType = new Map<string, Map<string, FieldType>>();
  for (const { entity, shown } of readings) {
    const candidates = byType.get(entity.type) ?? new Map<string, FieldType>();
    byType.set(entity.type, candidates);
    for (const field of shown) recordShown(field, candidates);
  }
  return byType;
}
