/**
 * `POST /management/v1/query`: a query over any index of an environment, without the limits of a client
 * (docs/reference/management.md "Queries").
 */
import type { ClientPrincipal, Environment, Tenant } from '../../config/configuration.ts';
import { everyIndex } from '../../config/tenant/index-patterns.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { smallBodyBytesMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { jsonType } from '../answer.ts';
import type { Handler } from '../call.ts';
import { targetedRequest } from '../query/multi-query.ts';
import { queryBody } from '../query/query.ts';
import { textWithViews } from '../query/rows-with-views.ts';
import type { Services } from '../services.ts';
import { requestedEnvironment } from './request-values.ts';

export function managementQuery(services: Services): Handler {
  return async (call) => {
    const client = clientOf(call.manager.tenant, requestedEnvironment(call));
    const bytes = await call.body.bytes(smallBodyBytesMax, problems.bodyTooLarge);
    const request = targetedRequest(queryBody(bytes));
    const [outcome] = await services.query.run(client, [request], { minVersion: null });
    assert(outcome !== undefined, 'each query has an outcome');
    if (!outcome.ok) throw new ProblemError(problemFor(outcome.errors, outcome.status));
    const { result } = outcome;
    const body =
      result.kind === 'text' ? result.text : (await textWithViews(services, client, result, false)).text;
    return { status: 200, body, contentType: jsonType };
  };
}

function problemFor(errors: readonly string[], status: 400 | 403 | 404) {
  return status === 403 ? problems.indexForbidden : problems.queryInvalid(errors, status);
}

/** Large answers are limited per client, so all managers of an environment share one. */
const standIns = new WeakMap<Environment, ClientPrincipal>();

/** An environment client with all scopes, in place of the manager. */
function clientOf(tenant: Tenant, environment: Environment): ClientPrincipal {
  const known = standIns.get(environment);
  if (known?.tenant === tenant) return known;
  const client: ClientPrincipal = {
    kind: 'client',
    tenant,
    environment,
    name: '',
    domains: tenant.domains,
    scopes: new Set(['delivery', 'query', 'source']),
    origins: null,
    indexes: everyIndex,
    cacheControl: null,
    cacheTags: null,
    depth: null,
  };
  standIns.set(environment, client);
  return client;
}
