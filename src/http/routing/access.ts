/** Who may call an endpoint (docs/reference/http.md "Keys and access"). */
import { timingSafeEqual } from 'node:crypto';
import type { Configuration, ManagementScope, Principal, Scope } from '../../config/configuration.ts';
import { hashKey } from '../../config/tenant/api-keys.ts';
import { ProblemError, problems } from '../../contract/errors.ts';

export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'metrics' }
  /** An environment client or a management client; the handler checks its scopes. */
  | { readonly kind: 'reader' }
  | { readonly kind: 'source' }
  | { readonly kind: 'client'; readonly scope: Scope }
  | { readonly kind: 'management'; readonly scope: ManagementScope };

/**
 * The principal of a key; null at an endpoint that needs no principal.
 * @throws ProblemError 401 without a known key, 403 for a key of the wrong kind or without the scope
 */
export function authorize(access: Access, apiKey: string, configuration: Configuration): Principal | null {
  if (access.kind === 'open' || access.kind === 'metrics') return null;
  if (apiKey === '') throw new ProblemError(problems.keyMissing);
  const principal = configuration.authenticate(apiKey);
  if (principal === null) throw new ProblemError(problems.keyUnknown);
  if (access.kind === 'source') {
    if (principal.kind !== 'source') throw new ProblemError(problems.sourceKeyNeeded);
    return principal;
  }
  if (access.kind === 'management') {
    if (principal.kind !== 'management') throw new ProblemError(problems.managementKeyNeeded);
    if (!principal.scopes.has(access.scope)) throw new ProblemError(problems.scopeMissing(access.scope));
    return principal;
  }
  if (access.kind === 'reader') {
    if (principal.kind === 'source') throw new ProblemError(problems.clientKeyNeeded);
    return principal;
  }
  if (principal.kind !== 'client') throw new ProblemError(problems.clientKeyNeeded);
  if (!principal.scopes.has(access.scope)) throw new ProblemError(problems.scopeMissing(access.scope));
  return principal;
}

/** The principal of a key, whatever it may do; null for an unknown key and for none. */
export function principalOf(apiKey: string, configuration: Configuration): Principal | null {
  return configuration.authenticate(apiKey);
}

const bearer = /^Bearer +/i;

/** The token of an `Authorization` header (RFC 6750); null if it has none. */
export function bearerToken(authorization: string): string | null {
  return bearer.test(authorization) ? authorization.replace(bearer, '') : null;
}

/**
 * Checks the key for the metrics, which contain names of tenants. Hashes are compared, so the timing reveals nothing about the
 * key.
 * @param wantedHash hashed form of the key; null if they are public
 * @throws ProblemError 401
 */
export function authorizeMetrics(wantedHash: string | null, authorization: string, apiKey: string): void {
  if (wantedHash === null) return;
  const sent = bearerToken(authorization) ?? apiKey;
  if (!timingSafeEqual(Buffer.from(hashKey(sent)), Buffer.from(wantedHash))) {
    throw new ProblemError(problems.metricsKeyNeeded);
  }
}
