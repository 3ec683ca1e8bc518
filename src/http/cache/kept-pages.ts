/**
 * What of a front's cache outlives a change of configuration: pages. A page is put together from what is stored, and what
 * a new schema makes of that is announced like any other change when it is rebuilt. So readers notice nothing of a
 * configuration that does not concern what they read. Answers of queries hang on the fields of their index, too, and go.
 */
import type { ClientPrincipal, Configuration } from '../../config/configuration.ts';
import type { AnswerCache } from './answer-cache.ts';
import { isKeyOfQuery } from './query-cache.ts';

/** Hands the pages of each client to the same client of a new configuration, if it still gets the same; drops all else. */
export function keepPages(cache: AnswerCache, { clients }: Pick<Configuration, 'clients'>): void {
  const heirs = new Map(clients.map((client) => [whatDecides(client), client]));
  cache.bequeath(
    (former) => heirs.get(whatDecides(former)) ?? null,
    (query) => !isKeyOfQuery(query),
  );
}

/** Everything of a client that decides what it gets for a URL, an id or a handle; and its name, to tell it from others. */
function whatDecides({ tenant, name, environment, domains }: ClientPrincipal): string {
  const hosts = domains.map(({ alias, hostnames }) => [alias, ...hostnames]);
  return JSON.stringify([tenant.alias, name, environment.id, hosts]);
}
