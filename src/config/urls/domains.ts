/** The hosts on which a client's routes are served (docs/reference/configuration.md "URLs and domains"). */
import type { Domain } from '../configuration.ts';
import { hostnameOf } from './url.ts';

/**
 * The client's domain with a host. `host` comes from `normalizeUrl`: null for a relative URL. Ports are ignored, because
 * domains have none. `*` matches relative URLs and all hosts that no other domain lists.
 */
export function domainOf(domains: readonly Domain[], host: string | null): Domain | null {
  const named = host === null ? undefined : domainNaming(domains, hostnameOf(host));
  return named ?? domainNaming(domains, '*') ?? null;
}

/**
 * True if a route matches a request of a client with these domains; both hosts come from `normalizeUrl`. A relative route
 * matches on all hosts of the client's domains. An absolute route matches on all hosts of the domain with its host.
 */
export function routeAnswers(
  routeHost: string | null,
  requestHost: string | null,
  domains: readonly Domain[],
): boolean {
  const asked = domainOf(domains, requestHost);
  if (asked === null) return false;
  return routeHost === null || domainOf(domains, routeHost) === asked;
}

function domainNaming(domains: readonly Domain[], hostname: string): Domain | undefined {
  return domains.find((domain) => domain.hostnames.includes(hostname));
}
