/** `POST /ingest/v2/{originId}` and `POST /ingest/v1` (docs/reference/http.md "Saving one entity"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { entityBytesMax, inlineBodyBytesMax } from '../../contract/limits.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Mistake } from '../routing/validate.ts';
import type { Services } from '../services.ts';
import { type EntityForm, type EntityReading, type ReadEntity, readEntity } from './entity-reading.ts';
import { knownFields } from './field-decisions.ts';
import { pathOriginId, typeConflictText, versionHeaders } from './headers.ts';
import { saveRead } from './save.ts';

const tooLarge = new ProblemError(problems.entityTooLarge);

export function saveEntity(services: Services): Handler {
  return saving(services, (call) => singleForm(call, pathOriginId(call)));
}

export function saveEntityV1(services: Services): Handler {
  return saving(services, () => ({ kind: 'typed' }));
}

function saving(services: Services, formOf: (call: Call) => EntityForm): Handler {
  return async (call) => {
    services.pace.refuseWhenBusy(call.source.tenant.alias);
    const form = formOf(call);
    const bytes = await call.body.bytes(entityBytesMax, tooLarge);
    const reading = await read(services, call, bytes, form);
    if (reading.kind === 'broken') throw new ProblemError(problems.bodyNotJson);
    if (reading.kind === 'invalid')
      throw new ProblemError(problems.entityInvalid(errorsByField(reading.mistakes)));
    return save(services, call, reading);
  };
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

async function save(services: Services, call: Call, read: ReadEntity): Promise<Answer> {
  const { outcomes, version } = await saveRead(services, call, 'single', [read]);
  if (outcomes[0] === 'typeConflict') {
    throw new ProblemError(problems.entityInvalid({ type: typeConflictText(services) }));
  }
  const message = outcomes[0] === 'changed' ? 'Processing of the entity has begun' : 'Entity is unchanged';
  return jsonAnswer(200, { status: 200, message }, versionHeaders(services, version));
}

/** The form of a single save: raw with a Type header, simplified without. */
function singleForm(call: Call, originId: string): EntityForm {
  const type = call.prefixedHeader('type');
  if (type === '') return { kind: 'simplified', originId };
  return {
    kind: 'raw',
    originId,
    type,
    url: textOrNull(call.prefixedHeader('url')),
    originParentId: textOrNull(call.prefixedHeader('originparentid')),
    redirects: listOf(call.prefixedHeader('redirects')),
  };
}

function textOrNull(text: string): string | null {
  return text === '' ? null : text;
}

/** The items of a comma-separated list, without empty items and the white space around items (RFC 9110, section 5.6.1). */
function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** One text per field: `errors` of a single save maps a field to one text. */
function errorsByField(mistakes: readonly Mistake[]): Record<string, string> {
  const texts = new Map<string, string>();
  for (const { field, text } of mistakes) {
    const name = field === '' ? 'body' : field;
    const known = texts.get(name);
    texts.set(name, known === undefined ? text : `${known}; ${text}`);
  }
  return Object.fromEntries(texts);
}
