/** The list of routes: the URLs that claims serve (contract section 6). */
import { normalizeUrl } from '../config/url.ts';
import { readClaimFields } from './claims.ts';
import { storeError } from './connection.ts';
import { claimField, keys } from './keys.ts';
import { readProcessedStamps } from './processed.ts';
import type { Store } from './store.ts';
import type { EnvironmentScope, RouteEntry } from './types.ts';

export interface RoutePageRequest {
  readonly direction: 'ascending' | 'descending';
  /** Only URLs behind this one in code-point order; it need not exist. */
  readonly after?: string;
  /** Only URLs before this one in code-point order; it need not exist. */
  readonly before?: string;
  readonly limit: number;
}

export interface RoutePage {
  /** In the direction asked. */
  readonly entries: RouteEntry[];
  /** All routes of the environment. */
  readonly total: number;
  /** More follow in the direction asked. */
  readonly hasMore: boolean;
}

/**
 * Served routes by URL in code-point order. A page is found by the URL it follows, never by its number, so routes
 * that come and go neither skip nor repeat one that stayed. @throws StoreUnavailableError
 */
export async function listRoutes(
  store: Store,
  scope: EnvironmentScope,
  request: RoutePageRequest,
): Promise<RoutePage> {
  try {
    const found = await Promise.all(
      store.partitions.tags.map((tag) => listPartition(store, tag, scope, request)),
    );
    const urls = found.flatMap(({ urls }) => urls).sort((a, b) => Buffer.compare(a, b));
    if (request.direction === 'descending') urls.reverse();
    const page = urls.slice(0, request.limit).map((url) => url.toString());
    const entries = await routeEntries(store, scope, page);
    return {
      entries,
      total: found.reduce((sum, { total }) => sum + total, 0),
      hasMore: urls.length > request.limit,
    };
  } catch (error) {
    throw storeError(error);
  }
}

async function listPartition(
  store: Store,
  tag: string,
  { tenant, environmentId }: EnvironmentScope,
  { direction, after, before, limit }: RoutePageRequest,
): Promise<{ urls: Buffer[]; total: number }> {
  const key = keys.routes(tag, tenant, environmentId);
  const [min, max] = [after === undefined ? '-' : `(${after}`, before === undefined ? '+' : `(${before}`];
  const [urls, total] = await Promise.all([
    direction === 'ascending'
      ? store.client.zrangebylexBuffer(key, min, max, 'LIMIT', 0, limit + 1)
      : store.client.zrevrangebylexBuffer(key, max, min, 'LIMIT', 0, limit + 1),
    store.client.zcard(key),
  ]);
  return { urls, total };
}

async function routeEntries(
  store: Store,
  scope: EnvironmentScope,
  urls: readonly string[],
): Promise<RouteEntry[]> {
  const fields = urls.map((url) => claimField.url(normalizeUrl(url)?.path ?? url));
  const claims = await readClaimFields(store, scope, fields);
  const served = urls.flatMap((url, index) => {
    const claim = claims[index]?.find(({ display }) => display === url);
    // Gone between the two reads: it did not stay, so the page may leave it out.
    return claim === undefined ? [] : [{ url, claim }];
  });
  const stamps = await readProcessedStamps(
    store,
    scope.tenant,
    served.map(({ claim }) => claim.view),
  );
  return served.map(({ url, claim }, index) => {
    // Of an entity whose first turn is not committed the claim is what is known.
    const stamp = stamps[index] ?? claim.sinceStamp;
    return { url, redirect: claim.redirect, updatedAtMs: Math.floor(stamp / 1000) };
  });
}
