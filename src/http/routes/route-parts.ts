/**
 * Shared by the listings: parameters, routes, cursors and continuation tokens (docs/reference/http.md "Listing routes").
 * A token is a URL with a MAC, so only tokens issued for the same list are accepted.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { managementPageDefault, managementPageMax } from '../../contract/limits.ts';
import type { RouteEntry, RouteScope } from '../../store/claims/routes.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';
import { queryParameters } from '../uws/text-decoding.ts';

const sealBytes = 9;

export function scopeOf(principal: ClientPrincipal): EnvironmentScope {
  return { tenant: principal.tenant.alias, environmentId: principal.environment.id };
}

/** The routes that a client may list. */
export function routesOf(
  { configuration }: Pick<Services, 'configuration'>,
  principal: ClientPrincipal,
): RouteScope {
  return { ...scopeOf(principal), urlForms: configuration.layouts.urlFormsOf(principal.tenant.alias).read };
}

/** Returns the non-empty values of a query parameter. @throws ProblemError `queryStringInvalid` */
export function parameterValues(query: string): (name: string) => readonly string[] {
  const parameters = queryParameters(query);
  if (parameters === null) throw new ProblemError(problems.queryStringInvalid);
  return (name) =>
    parameters.filter(([known, value]) => known === name && value !== '').map(([, value]) => value);
}

/**
 * The value of a query parameter; null when it is absent or empty.
 * @throws ProblemError `queryStringInvalid`; `parameterInvalid` if it is sent with different values
 */
export function requestedText(call: Pick<Call, 'query'>, name: string): string | null {
  const [value = null, ...others] = new Set(parameterValues(call.query)(name));
  if (others.length === 0) return value;
  throw new ProblemError(problems.parameterInvalid(name, 'was sent with different values. Send it once'));
}

/** The requested page of a list: `first` and `after`. @throws ProblemError `parameterInvalid` */
export function requestedPage(call: Call): { readonly first: number; readonly after: string | null } {
  const text = requestedText(call, 'first') ?? String(managementPageDefault);
  const first = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > managementPageMax) {
    const rule = `must be a whole number from 1 to ${managementPageMax}`;
    throw new ProblemError(problems.parameterInvalid('first', rule));
  }
  return { first, after: requestedText(call, 'after') };
}

/** A route in the format of the response. */
export function routeResult({ url, redirect, updatedAtMs }: RouteEntry): object {
  return { url, redirect, updatedAt: new Date(updatedAtMs).toISOString() };
}

/** @param list name of the list; a token is valid for one list only */
export function sealUrl(secret: Buffer, list: string, url: string): string {
  const text = Buffer.from(url);
  return Buffer.concat([sealOf(secret, list, text), text]).toString('base64url');
}

/** The URL of a token; null if the token was not issued for this list. */
export function unsealUrl(secret: Buffer, list: string, token: string): string | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= sealBytes || bytes.toString('base64url') !== token) return null;
  const text = bytes.subarray(sealBytes);
  return timingSafeEqual(bytes.subarray(0, sealBytes), sealOf(secret, list, text)) ? text.toString() : null;
}

function sealOf(secret: Buffer, list: string, text: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${list}\n`).update(text).digest().subarray(0, sealBytes);
}
