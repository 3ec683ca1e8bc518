/** The common parts of both route listings (docs/reference/http.md "Listing routes"). */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import type { RouteEntry, RouteScope } from '../../store/claims/routes.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { Services } from '../services.ts';
import { queryParameters } from '../uws/text-decoding.ts';

export function scopeOf(principal: ClientPrincipal): EnvironmentScope {
  return { tenant: principal.tenant.alias, environmentId: principal.environment.id };
}

/** The lists of routes that a client asks for. */
export function routesOf(
  { configuration }: Pick<Services, 'configuration'>,
  principal: ClientPrincipal,
): RouteScope {
  return { ...scopeOf(principal), urlForms: configuration.layouts.urlFormsOf(principal.tenant.alias).read };
}

/** Values of each query parameter that has one. @throws ProblemError `queryStringInvalid` */
export function parameterValues(query: string): (name: string) => readonly string[] {
  const parameters = queryParameters(query);
  if (parameters === null) throw new ProblemError(problems.queryStringInvalid);
  return (name) =>
    parameters.filter(([known, value]) => known === name && value !== '').map(([, value]) => value);
}

/** A route as it is in an answer. */
export function routeResult({ url, redirect, updatedAtMs }: RouteEntry): object {
  return { url, redirect, updatedAt: new Date(updatedAtMs).toISOString() };
}
