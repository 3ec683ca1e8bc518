/** `POST /ingest/v2/{originId}` (specification endpoint 2). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { entityBytesMax, inlineBodyBytesMax } from '../../contract/limits.ts';
import { acceptEntities } from '../../store/entities/accept.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { Call } from '../call.ts';
import type { Handler } from '../handler.ts';
import type { Mistake } from '../routing/validate.ts';
import type { Services } from '../services.ts';
import { pathOriginId, typeConflictText, versionHeaders } from './answer.ts';
import type { EntityForm, EntityReading } from './entity-reading.ts';
import { decideFields, knownFields } from './field-decisions.ts';
import { forcesType, singleForm } from './headers.ts';
import { changedShareOf, workOf } from './work.ts';

const tooLarge = new ProblemError(problems.entityTooLarge);

export function saveEntity(services: Services): Handler {
  return async (call) => {
    services.pace.refuseWhenBusy(call.source.tenant.alias);
    const form = singleForm(call, pathOriginId(call));
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
    ? entityReader.readHere(bytes, form, known)
    : entityReader.readElsewhere(bytes, form, known);
}

async function save(
  services: Services,
  call: Call,
  reading: EntityReading & { kind: 'entity' },
): Promise<Answer> {
  const { tenant, source } = call.source;
  const { entity } = reading;
  const write = { kind: 'single', tenant: tenant.alias, work: workOf([entity]) } as const;
  const { outcomes, version: written } = await services.pace.accept(write, async () => {
    await decideFields(services, call.source, [reading], forcesType(call));
    const taken = await acceptEntities(services.store, {
      tenant: tenant.alias,
      sourceId: source.id,
      force: forcesType(call),
      entities: [entity],
    });
    return { ...taken, changedShare: changedShareOf(taken.outcomes) };
  });
  const version = services.progress.noteWritten(tenant.alias, written);
  if (outcomes[0] === 'typeConflict') {
    throw new ProblemError(problems.entityInvalid({ type: typeConflictText(services) }));
  }
  const message = outcomes[0] === 'changed' ? 'Processing of the entity has begun' : 'Entity is unchanged';
  return jsonAnswer(200, { status: 200, message }, versionHeaders(services, version));
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
