/** `GET /routes/v2`: all routes, 500 a page, paged by a continuation token (docs/reference/http.md "Listing routes"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { routesPageMax } from '../../contract/limits.ts';
import { listRoutes } from '../../store/claims/routes.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { askedVersion, waitForVersion } from '../delivery/min-version.ts';
import type { Services } from '../services.ts';
import { sealUrl, unsealUrl } from './cursor-token.ts';
import { parameterValues, routeResult, routesOf } from './route-parts.ts';
import { Sitemap, siteOf } from './sitemap.ts';

export function listRoutesV2(services: Services): Handler {
  return async (call) => {
    const scope = routesOf(services, call.client);
    const list = `routes/v2:${scope.tenant}:${scope.environmentId}`;
    const { store } = services;
    const token = askedToken(call);
    const valuesOf = parameterValues(call.query);
    const [format = 'json'] = valuesOf('format');
    if (format !== 'json' && format !== 'sitemap') throw new ProblemError(problems.routesFormatInvalid);
    if (format === 'sitemap') {
      const site = siteOf(valuesOf('base')[0], call.client.domains, call.header('host'));
      const asked = askedVersion(call, 422);
      if (asked !== null) await waitForVersion(services, scope.tenant, asked);
      return await new Sitemap(store, scope, site).answer(token);
    }
    const after = token === '' ? null : unsealUrl(store.secret, list, token);
    if (token !== '' && after === null) throw new ProblemError(problems.continuationTokenInvalid);
    const version = askedVersion(call, 422);
    if (version !== null) await waitForVersion(services, scope.tenant, version);
    const { entries, hasMore } = await listRoutes(store, scope, {
      direction: 'ascending',
      limit: routesPageMax,
      ...(after === null ? {} : { after }),
    });
    const last = entries.at(-1);
    return jsonAnswer(200, {
      continuationToken: hasMore && last !== undefined ? sealUrl(store.secret, list, last.url) : null,
      results: entries.map(routeResult),
    });
  };
}

function askedToken(call: Call): string {
  const header = call.header('x-continuation-token');
  return header === '' ? (parameterValues(call.query)('continuationToken')[0] ?? '') : header;
}
