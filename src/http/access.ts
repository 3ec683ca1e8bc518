/** Who may call an endpoint (specification "Authentication", contract section 2 "scopes"). */
import type { Configuration, Principal, Scope } from '../config/types.ts';
import { ProblemError, problems } from '../contract/errors.ts';

export type Access =
  | { readonly kind: 'open' }
  | { readonly kind: 'source' }
  | { readonly kind: 'client'; readonly scope: Scope };

/**
 * Whom the key speaks for; null at an open endpoint.
 * @throws ProblemError 401 without a known key, 403 for a key of the wrong kind or without the scope
 */
export function authorize(access: Access, apiKey: string, configuration: Configuration): Principal | null {
  if (access.kind === 'open') return null;
  if (apiKey === '') throw new ProblemError(problems.keyMissing);
  const principal = configuration.authenticate(apiKey);
  if (principal === null) throw new ProblemError(problems.keyUnknown);
  if (access.kind === 'source') {
    if (principal.kind !== 'source') throw new ProblemError(problems.sourceKeyNeeded);
    return principal;
  }
  if (principal.kind !== 'client') throw new ProblemError(problems.clientKeyNeeded);
  if (!principal.scopes.has(access.scope)) throw new ProblemError(problems.scopeMissing(access.scope));
  return principal;
}
