/** Deletes entities (docs/reference/http.md "Deleting entities"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { errorsListedMax, jsonDepthMax, smallBodyBytesMax } from '../../contract/limits.ts';
import { bulkDeleteBodyShape, originIdShape } from '../../contract/shapes-ingest.ts';
import { removeEntities } from '../../store/entities/entities.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { type Answer, jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { bodyJson, unstorable } from '../json-body.ts';
import { errorsByField, validate } from '../routing/validate.ts';
import type { Services } from '../services.ts';
import { queryParameters } from '../uws/request-headers.ts';
import { BulkOutcomes } from './bulk.ts';
import { pathOriginId, recordTraceOf, type Written, writeHandler } from './write-handler.ts';
import type { WriteKind } from './writes-under-way.ts';

export function deleteEntity(services: Services): Handler {
  return writeHandler(services, (call) => removeOne(services, call, pathOriginId(call), 'originId'));
}

export function deleteEntityV1(services: Services): Handler {
  return writeHandler(services, (call) => removeOne(services, call, parameterId(call), 'id'));
}

/** The `id` of the query string. @throws ProblemError 422 */
function parameterId(call: Call): string {
  const parameters = queryParameters(call.query);
  const ids = parameters?.filter(([name]) => name === 'id').map(([, value]) => value) ?? [];
  const [id, ...others] = ids;
  if (id !== undefined && others.length === 0) return id;
  const text =
    parameters === null ? 'must be percent-encoded UTF-8' : 'must be in the query string exactly once';
  throw new ProblemError(problems.requestInvalid({ id: `id ${text}` }));
}

/** @param name name of the originId in this version of the interface */
async function removeOne(services: Services, call: Call, originId: string, name: string): Promise<Written> {
  const [error] = validate(originIdShape, originId, 1, name);
  if (error !== undefined) throw new ProblemError(problems.requestInvalid({ [name]: error.text }));
  const { removed, version } = await remove(services, call, 'single', [originId]);
  if (removed[0] !== true) throw new ProblemError(problems.entityNotFound);
  const message = 'Deletion of the entity has begun';
  return { answer: jsonAnswer(200, { status: 200, message }), version };
}

export function deleteEntities(services: Services): Handler {
  return writeHandler(services, async (call) => {
    const { bulkDeleteTooLarge, bodyNotJson } = problems;
    const items = itemsOf(await bodyJson(call.body, smallBodyBytesMax, bulkDeleteTooLarge, bodyNotJson));
    const outcomes = new BulkOutcomes();
    const requested = new Set<string>();
    items.forEach((item, index) => {
      const text = errorIn(item);
      if (text === null) requested.add(String(item));
      else outcomes.refused(typeof item === 'string' && item !== '' ? item : `originIds[${index}]`, [text]);
    });
    if (requested.size === 0 && items.length > 0) {
      return { answer: answerOf(422, [], [], outcomes), version: null };
    }
    const originIds = [...requested];
    const { removed, version } = await remove(services, call, 'bulk', originIds);
    const deleted = originIds.filter((_, index) => removed[index] === true);
    const notFound = originIds.filter((_, index) => removed[index] !== true);
    return { answer: answerOf(200, deleted, notFound, outcomes), version };
  });
}

async function remove(
  services: Services,
  call: Call,
  kind: WriteKind,
  originIds: readonly string[],
): Promise<{ removed: readonly boolean[]; version: VersionVector }> {
  const { tenant, source } = call.source;
  const write = { kind, tenant: tenant.alias, work: originIds.length };
  return await services.pace.accept(write, async () => {
    await recordTraceOf(services, call, originIds);
    const taken = await removeEntities(services.store, {
      tenant: tenant.alias,
      sourceId: source.id,
      originIds,
    });
    return { ...taken, changedShare: taken.removed.filter(Boolean).length / Math.max(1, originIds.length) };
  });
}

/** The items of `originIds`. Errors in items are reported per item later. @throws ProblemError 422 for any other error */
function itemsOf(body: Json): readonly Json[] {
  const list = isJsonObject(body) ? getOwn(body, 'originIds') : undefined;
  const errors = validate(bulkDeleteBodyShape, body, errorsListedMax);
  const ofRequest = errors.filter(({ text }) => !text.startsWith('originIds['));
  if (ofRequest.length > 0 || !Array.isArray(list)) {
    throw new ProblemError(problems.requestInvalid(errorsByField(ofRequest)));
  }
  return list;
}

function errorIn(item: Json): string | null {
  const [error] = validate(originIdShape, item, 1, 'originId');
  if (error !== undefined) return error.text;
  return unstorable(item, 'originId', jsonDepthMax);
}

function answerOf(
  status: 200 | 422,
  deletedSourceEntities: readonly string[],
  notFoundSourceEntities: readonly string[],
  { errors }: BulkOutcomes,
): Answer {
  const code = status === 422 ? problems.requestInvalid({}).name : undefined;
  return jsonAnswer(status, { status, deletedSourceEntities, notFoundSourceEntities, errors, code });
}
