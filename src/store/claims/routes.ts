/** The list of routes: the URLs that claims serve (docs/reference/http.md "Listing routes"). */

import { normalizeUrl, type UrlForm } from '../../config/urls/url.ts';
import { sum } from '../../lib/lists.ts';
import { readProcessedStamps } from '../derived/processed.ts';
import { claimField, keys } from '../keys.ts';
import { behind, comparing, type ListPage, listLengths, readPageOfAll } from '../redis/ordered-lists.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import type { Claim } from './claim-records.ts';
import { readServed } from './claims.ts';
import { readFirstOfHosts } from './competing-claims.ts';

export interface RouteEntry {
  readonly url: string;
  readonly redirect: string | null;
  readonly updatedAtMs: number;
}

/** The lists of routes of an environment. */
export interface RouteScope extends EnvironmentScope {
  /** The forms of the tenant's URL claims, in the order in which they must be read. */
  readonly urlForms: readonly UrlForm[];
}

export interface RoutePage {
  /** In the requested direction. */
  readonly entries: RouteEntry[];
  /** Number of all routes of the environment. */
  readonly total: number;
  /** True if more follow in the requested direction. */
  readonly hasMore: boolean;
}

/**
 * Served routes sorted by URL in code-point order. Pages are located by the preceding URL and not by number, so added and
 * removed routes neither skip nor repeat others.
 * @throws StoreUnavailableError
 */
export async function listRoutes(store: Store, scope: RouteScope, request: ListPage): Promise<RoutePage> {
  const [page, total] = await Promise.all([visiblePage(store, scope, request), countRoutes(store, scope)]);
  return { entries: page.slice(0, request.limit), total, hasMore: page.length > request.limit };
}

/** Returns one more entry than requested, if there is one. Any number of hidden redirects may be in between. */
async function visiblePage(store: Store, scope: RouteScope, request: ListPage): Promise<RouteEntry[]> {
  const entries: RouteEntry[] = [];
  for (let rest = request; ; ) {
    const urls = await listedUrls(store, scope, rest);
    entries.push(...(await routeEntries(store, scope, urls)));
    const last = urls.at(-1);
    if (entries.length > request.limit || last === undefined || urls.length <= request.limit) return entries;
    rest = behind(rest, last);
  }
}

/** Listed URLs after another one, including hidden ones, in code-point order. @param after null: from the beginning */
export async function listedUrlsAfter(
  store: Store,
  scope: RouteScope,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const request = { direction: 'ascending', limit: limit - 1, ...(after !== null && { after }) } as const;
  return await listedUrls(store, scope, request);
}

/** Returns one more URL than requested, if there is one. */
async function listedUrls(store: Store, scope: RouteScope, request: ListPage): Promise<string[]> {
  const found: Buffer[] = [];
  for (const form of scope.urlForms) {
    const lists = store.partitions.tags.map((tag) =>
      keys.routes(tag, scope.tenant, scope.environmentId, form),
    );
    found.push(...(await readPageOfAll(store, lists, { ...request, limit: request.limit + 1 })));
  }
  const texts = found.sort(comparing(request)).map(String);
  // While claims move, a URL may be in the lists of both forms.
  return [...new Set(texts)].slice(0, request.limit + 1);
}

/** The number of served routes. While claims move between forms, a URL in both lists counts twice. */
export async function countRoutes(
  store: Store,
  { tenant, environmentId, urlForms }: RouteScope,
): Promise<number> {
  const counts = await answerOf(
    Promise.all(
      store.partitions.tags.map(async (tag) => {
        const lists = urlForms.map((form) => keys.routes(tag, tenant, environmentId, form));
        const [hidden, listed] = await Promise.all([
          store.client.hvals(keys.hidden(tag, tenant, environmentId)),
          listLengths(store, tag, lists),
        ]);
        return sum(listed) - sum(hidden.map(Number));
      }),
    ),
  );
  return sum(counts);
}

/** The routes of listed URLs, without hidden ones. */
export async function routeEntries(
  store: Store,
  scope: RouteScope,
  urls: readonly string[],
): Promise<RouteEntry[]> {
  const claims = new Map<string, Claim>();
  for (const form of scope.urlForms) {
    for (const [url, claim] of await servedClaims(store, scope, form, urls)) claims.set(url, claim);
  }
  const served = urls.flatMap((url) => {
    const claim = claims.get(url);
    // The route is hidden or was removed between the two reads; a page may omit removed routes.
    return claim === undefined ? [] : [{ url, claim }];
  });
  const stamps = await readProcessedStamps(
    store,
    scope.tenant,
    served.map(({ claim }) => claim.view),
  );
  return served.map(({ url, claim }, index) => {
    // If the entity's first turn is not committed yet, only its claim is known.
    const stamp = stamps[index] ?? claim.sinceStamp;
    return { url, redirect: claim.redirect, updatedAtMs: Math.floor(stamp / 1000) };
  });
}

/**
 * The served claims by URL, from the records of their paths. If a record does not contain all hosts, the claims of the others
 * are read from the ranks.
 */
async function servedClaims(
  store: Store,
  scope: EnvironmentScope,
  form: UrlForm,
  urls: readonly string[],
): Promise<Map<string, Claim>> {
  const hosts = urls.map((url) => {
    const { host, path } = normalizeUrl(url) ?? { host: null, path: url };
    return { field: claimField.url(path, form), host };
  });
  const fields = [...new Set(hosts.map(({ field }) => field))];
  const records = await readServed(store, scope, fields);
  const claims = new Map<string, Claim>();
  for (const record of records) for (const claim of record.claims) claims.set(claim.display, claim);
  const partial = fields.filter((_, index) => records[index]?.hasMore);
  const everywhere = await readFirstOfHosts(
    store,
    scope,
    partial.map((field) => ({ field, host: null })),
  );
  const pagesEverywhere = new Set(partial.filter((_, index) => everywhere[index]?.kind === 'page'));
  const missing = hosts.filter(
    ({ field }, index) => partial.includes(field) && !claims.has(urls[index] ?? ''),
  );
  for (const [index, claim] of (await readFirstOfHosts(store, scope, missing)).entries()) {
    const isHidden = claim?.kind === 'redirect' && pagesEverywhere.has(missing[index]?.field ?? '');
    if (claim !== null && !isHidden) claims.set(claim.display, claim);
  }
  return claims;
}
