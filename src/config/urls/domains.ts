/** Which hosts a client's routes answer on (docs/reference/configuration.md "URLs and domains"). */
import type { Domain } from '../configuration.ts';
import { hostnameOf } from './url.ts';

/**
 * The domain of a client that a host belongs to. `host` as `normalizeUrl` gives it: null for a relative URL; a port
 * does not matter, for domains name none. `*` takes relative URLs and every host that no other domain names.
 */
export function domainOf(domains: readonly Domain[], host: string | null): Domain | null {
  const named = host === null ? undefined : domainNaming(domains, hostnameOf(host));
  return named ?? domainNaming(domains, '*') ?? null;
}

/**
 * Whether a route answers a request of a client with these domains; both hosts as `normalizeUrl` gives them. A relative
 * route answers on every host of the client's domains. An absolute route answers on the hosts of the domain that has
 * its host.
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
