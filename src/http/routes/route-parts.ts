/**
 * Shared by the listings: routes, cursors and continuation tokens (docs/reference/http.md "Listing routes").
 * A token is a URL with a MAC, so only tokens issued for the same list are accepted.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ClientPrincipal } from '../../config/configuration.ts';
import type { RouteEntry, RouteScope } from '../../store/claims/routes.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { Services } from '../services.ts';

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
