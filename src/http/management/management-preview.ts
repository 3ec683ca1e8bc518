/**
 * `POST /management/v1/preview`: the output of a schema for an entity; neither needs to be stored (docs/reference/management.md
 * "Preview").
 */

import type { Environment, Source, Tenant } from '../../config/configuration.ts';
import { issueLine } from '../../config/documents/issue-text.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json, type JsonObject, textIn } from '../../contract/json.ts';
import { configurationErrorsListedMax, previewBodyBytesMax } from '../../contract/limits.ts';
import { type PreviewAnswer, previewBodyShape } from '../../contract/shapes-management.ts';
import { closing } from '../../lib/closing.ts';
import { quote } from '../../lib/message-text.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import { readTenant } from '../../store/configuration/published-configuration.ts';
import { readEntities } from '../../store/entities/entities.ts';
import type { Store } from '../../store/store.ts';
import { ScanTooLongError } from '../../trial/planned-candidates.ts';
import { preview } from '../../trial/preview/preview.ts';
import {
  type PreviewedTenant,
  type SchemaText,
  SchemaTextError,
  storedSchema,
  withSchemaText,
} from '../../trial/preview/previewed-schema.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { readSourceEntity } from '../ingest/entity-reading.ts';
import { bodyJson } from '../json-body.ts';
import { validate } from '../routing/validate.ts';
import type { Services } from '../services.ts';
import { CostlyTurns, environmentNamed, groupNamed, sourceOf, throwNothing } from './request-values.ts';

export function managementPreview({ store }: Services): Handler {
  const turns = new CostlyTurns();
  return async (call) => {
    const sent = await bodyJson(call.body, previewBodyBytesMax, problems.previewTooLarge, (reason) =>
      problems.previewInvalid([reason]),
    );
    const body = bodyOf(sent);
    const answer = await turns.run(call.manager.tenant.alias, () => previewed(store, call, body));
    return jsonAnswer<PreviewAnswer>(200, answer);
  };
}

async function previewed(store: Store, call: Call, body: JsonObject): Promise<PreviewAnswer> {
  const { tenant } = call.manager;
  const environment = environmentNamed(tenant, textIn(body, 'environment'));
  const source = sourceOf(tenant, groupNamed(tenant, textIn(body, 'sourceGroup')), environment);
  const asked = await schemaOf(store, tenant, getOwn(body, 'schema') ?? null);
  const entity = await entityOf(store, tenant, source, body);
  const previewed = { ...asked, ...scopeIn(asked.tenant, environment, source), entity };
  try {
    return await closing(new Sandbox(), (sandbox) => preview(store, previewed, sandbox));
  } catch (error) {
    if (error instanceof ScanTooLongError)
      throw new ProblemError(problems.previewInvalid([capitalized(error.message)]));
    throw error;
  }
}

/** The same environment and source, as objects of the tenant that has the schema. */
function scopeIn(
  { environments, sources }: Tenant,
  environment: Environment,
  source: Source,
): { environment: Environment; source: Source } {
  return {
    environment: environments.find(({ id }) => id === environment.id) ?? environment,
    source: sources.get(source.id) ?? source,
  };
}

async function schemaOf(store: Store, tenant: Tenant, schema: Json): Promise<PreviewedTenant> {
  if (typeof schema === 'string') {
    const stored = storedSchema(tenant, schema) ?? throwNothing(`There is no schema ${quote(schema)}`);
    return { tenant, previewed: stored };
  }
  const published = await readTenant(store, tenant.alias);
  if (published === null) throw new ProblemError(problems.unavailable);
  try {
    return await withSchemaText(published.documents, tenant.alias, schemaText(schema));
  } catch (error) {
    if (!(error instanceof SchemaTextError)) throw error;
    const shown = error.issues.slice(0, configurationErrorsListedMax);
    throw new ProblemError(
      problems.configurationInvalid(shown.map((issue) => issueLine(issue, tenant.alias))),
    );
  }
}

/** The shape of the body is already checked. */
function schemaText(schema: Json): SchemaText {
  const object = isJsonObject(schema) ? schema : {};
  const alias = textIn(object, 'alias');
  const language = textIn(object, 'language');
  return {
    kind: textIn(object, 'kind') === 'index' ? 'index' : 'full',
    language: language === 'js' || language === 'ts' ? language : 'json',
    text: textIn(object, 'text') ?? '',
    ...(alias === null ? {} : { alias }),
  };
}

async function entityOf(
  store: Store,
  tenant: Tenant,
  { id: sourceId, sourceGroup }: Source,
  body: JsonObject,
): Promise<StoredEntity> {
  const given = getOwn(body, 'entity') ?? null;
  const originId = textIn(body, 'originId');
  if (isJsonObject(given)) return unsavedEntity(sourceId, { originId: originId ?? 'preview', ...given });
  const [entity] = originId === null ? [] : await readEntities(store, tenant.alias, [{ sourceId, originId }]);
  return entity ?? throwNothing(`The source group ${sourceGroup} has no entity ${quote(originId ?? '')}`);
}

function unsavedEntity(sourceId: string, given: JsonObject): StoredEntity {
  const reading = readSourceEntity(given);
  if (reading.kind === 'invalid') {
    throw new ProblemError(problems.previewInvalid(reading.errors.map(({ text }) => `entity: ${text}`)));
  }
  const stamp = Date.now() * 1000;
  return { ...reading.entity, sourceId, stamp, bornStamp: stamp, urlStamp: stamp };
}

/** @throws ProblemError 422 with all errors */
function bodyOf(body: Json): JsonObject {
  if (!isJsonObject(body)) {
    throw new ProblemError(problems.previewInvalid(['The body must be an object in JSON']));
  }
  const errors = validate(previewBodyShape, body, configurationErrorsListedMax).map(({ text }) => text);
  const hasEntity = (getOwn(body, 'entity') ?? null) !== null || textIn(body, 'originId') !== null;
  if (!hasEntity) errors.push('entity or originId is required');
  if (errors.length > 0) throw new ProblemError(problems.previewInvalid(errors));
  return body;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
