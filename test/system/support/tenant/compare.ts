/** Reads claims, routes and index items of a tenant over HTTP and compares them with the expected ones. */
import assert from 'node:assert/strict';
import { isJsonObject, type Json } from '../../../../src/contract/json.ts';
import type { Answer, Client } from '../client.ts';
import type { ExpectedTenant, NaiveClaim } from './expected.ts';
import { types } from './scene.ts';

export interface Access {
  readonly client: Client;
  readonly key: string;
  readonly environmentId: string;
}

function groupClaims(claims: readonly NaiveClaim[]): Map<string, NaiveClaim[]> {
  const groups = new Map<string, NaiveClaim[]>();
  for (const claim of claims) groups.set(claim.at, [...(groups.get(claim.at) ?? []), claim]);
  return groups;
}

function originIdOf(view: unknown): unknown {
  return isJsonObject(view) ? view.who : undefined;
}

/** A URL or handle serves one of its claimants, pages before redirects. Which of them depends on its history. */
export async function claimDifferences(access: Access, expected: ExpectedTenant): Promise<string[]> {
  const { client, key, environmentId } = access;
  const differences: string[] = [];
  for (const [url, claims] of groupClaims(expected.urlClaims(environmentId))) {
    const { json }: Answer = await client.get(`/v2?url=${encodeURIComponent(url)}`, { key });
    const pages = claims.filter(({ to }) => to === null);
    const isRight =
      pages.length > 0
        ? json.meta.status === 200 && pages.some(({ view }) => view.originId === originIdOf(json.route))
        : json.meta.status === 301 && claims.some(({ to }) => to === json.meta.redirect);
    if (!isRight) differences.push(`${url} serves ${shown(json)}, claimed by ${shown(claims)}`);
  }
  const handles = groupClaims(expected.handleClaims(environmentId));
  const asked = [...handles.keys(), 'nobody'];
  for (let at = 0; at < asked.length; at += 50) {
    const portion = asked.slice(at, at + 50);
    const { json }: Answer = await client.post(
      '/v2?includeDuplicateViews=true',
      { handles: portion },
      { key },
    );
    for (const handle of portion) {
      const claims = handles.get(handle) ?? [];
      const found = originIdOf(json.views[handle]);
      const isRight =
        claims.length === 0 ? found === undefined : claims.some(({ view }) => view.originId === found);
      if (!isRight) differences.push(`handle ${handle} serves ${found}, claimed by ${shown(claims)}`);
    }
  }
  return differences;
}

export async function routeDifferences(access: Access, expected: ExpectedTenant): Promise<string[]> {
  const { client, key, environmentId } = access;
  const claims = groupClaims(expected.urlClaims(environmentId));
  const routes: { url: string; redirect: string | null }[] = [];
  let after = '';
  for (;;) {
    const { json }: Answer = await client.get(`/routes/v1?first=100${after}`, { key });
    routes.push(...json.results);
    if (json.total !== claims.size) return [`${json.total} routes are listed instead of ${claims.size}`];
    if (!json.pageInfo.hasNextPage) break;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
  const { json: v2 }: Answer = await client.get('/routes/v2', { key });
  assert.deepEqual(
    v2.results.map(({ url }: { url: string }) => url),
    routes.map(({ url }) => url),
  );
  const wanted = [...claims.keys()].sort();
  if (wanted.join(' ') !== routes.map(({ url }) => url).join(' ')) {
    return [`routes are ${shown(routes)}, should be ${shown(wanted)}`];
  }
  return routes.flatMap(({ url, redirect }) => {
    const ofUrl = claims.get(url) ?? [];
    const isPage = ofUrl.some(({ to }) => to === null);
    const isRight = isPage ? redirect === null : ofUrl.some(({ to }) => to === redirect);
    return isRight ? [] : [`route ${url} redirects to ${redirect}, claimed by ${shown(ofUrl)}`];
  });
}

/** Items of the index `things`: each must exist once, with the expected fields. */
export async function itemDifferences(access: Access, expected: ExpectedTenant): Promise<string[]> {
  const { client, key, environmentId } = access;
  const { json }: Answer = await client.post('/v1/things', { pagination: { pageSize: 1000 } }, { key });
  const wanted = expected.items(environmentId);
  const found = new Map<string, Json>();
  for (const { _originId, _sourceGuid, _updatedAt, _score, ...fields } of json.results) {
    found.set(`${_sourceGuid} ${_originId}`, fields);
  }
  if (json.totalResults !== found.size)
    return [`${json.totalResults} items are counted, ${found.size} were sent`];
  const differences: string[] = [];
  for (const key_ of new Set([...wanted.keys(), ...found.keys()])) {
    const [is, should] = [found.get(key_), wanted.get(key_)].map((item) =>
      isJsonObject(item) ? normal(item) : 'no item',
    );
    if (is !== should) differences.push(`item ${key_} is ${is}, should be ${should}`);
  }
  return differences.slice(0, 5);
}

/** Absent values, null and empty lists are equal, because no query distinguishes them. */
function normal(item: object): string {
  const members = Object.entries(item)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(members);
}

/** Auto-indexed entity types of the group `main`: their items are their entities. */
export async function typeDifferences(access: Access, expected: ExpectedTenant): Promise<string[]> {
  const { client, key, environmentId } = access;
  const differences: string[] = [];
  for (const type of types) {
    const wanted = expected.ofType(environmentId, 'main', type).sort();
    const path = `/v1/sourceGroupAlias/main/type/${type}`;
    const { status, json }: Answer = await client.post(path, { pagination: { pageSize: 1000 } }, { key });
    if (status === 404 && wanted.length === 0) continue;
    const found = (json.results ?? []).map(({ _originId }: { _originId: string }) => _originId).sort();
    if (json.totalResults === wanted.length && found.join() === wanted.join()) continue;
    differences.push(`type ${type} has ${shown(found)}, should have ${shown(wanted)}`);
  }
  return differences;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 600);
}
