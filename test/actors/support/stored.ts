/** The whole store read key by key, and what must be true when no work is left. */

import assert from 'node:assert/strict';
import type { Tenant } from '../../../src/config/configuration.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json } from '../../../src/contract/json.ts';
import { entriesOf, project } from '../../../src/schemas/lookup-layout.ts';
import {
  type Claim,
  type ServedClaims,
  unpackClaim,
  unpackServed,
} from '../../../src/store/claims/claim-records.ts';
import { fieldOfCompetingClaim } from '../../../src/store/claims/competing-claims.ts';
import { namesDigestOfBody, withNames } from '../../../src/store/derived/nameless-body.ts';
import { decodeBody, type StoredReference } from '../../../src/store/derived/stored-body.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { keys, tagOf } from '../../../src/store/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { listedTexts } from '../../support/ordered-lists.ts';

/** Parts of a partition that are derived from its entities. */
export const madeParts = [
  'views',
  'items',
  'processed',
  'claims',
  'ranks',
  'routes',
  'hidden',
  'clashes',
  'lookup',
] as const;

/** Every derived key with its content, fields in order, as comparable text. */
export async function dump(store: Store, parts: readonly string[] = madeParts): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const key of await store.client.keys('*')) {
    const part = key.split(':')[1] ?? '';
    if (!parts.includes(part)) continue;
    if (part === 'routes') {
      found.set(key, (await listedTexts(store.client, key)).join('\n'));
      continue;
    }
    if (part === 'ranks') {
      found.set(key, (await store.client.zrange(key, '0', '-1')).join('\n'));
      continue;
    }
    const hash = await store.client.hgetallBuffer(key);
    const lines = Object.entries(hash).map(async ([field, value]) => {
      const bytes = part === 'views' ? await wholeBody(store, key, value) : value;
      return `${field} ${bytes.toString('base64')}`;
    });
    found.set(key, (await Promise.all(lines)).sort().join('\n'));
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Views of an environment by `<source>:<alias>:<originId>`; a reference is written `→<view id>`. */
export async function storedViews(
  store: Store,
  tenant: string,
  environmentId: string,
): Promise<Map<string, Json>> {
  const views = new Map<string, Json>();
  for (const key of await store.client.keys(`*:views:${tenant}:${environmentId}:*`)) {
    const sourceId = key.split(':').at(-1) ?? '';
    for (const [field, stored] of Object.entries(await store.client.hgetallBuffer(key))) {
      const body = await wholeBody(store, key, stored);
      views.set(`${sourceId}:${field}`, viewOf(environmentId, sourceId, body));
    }
  }
  return views;
}

/** A view's body with the names that it omits: how many views had them before depends on the history. */
async function wholeBody(store: Store, viewsKey: string, stored: Buffer): Promise<Buffer> {
  const digest = namesDigestOfBody(stored);
  const [, , tenant = '', , sourceId = ''] = viewsKey.split(':');
  const list = digest && (await store.client.hget(keys.names(tagOf(viewsKey), tenant, sourceId), digest));
  return bodyWith(stored, list);
}

/** @param list of the names that a view's body omits, in JSON; null if there is none */
export function bodyWith(stored: Buffer, list: string | null): Buffer {
  if (namesDigestOfBody(stored) === null) return stored;
  assert.ok(list !== null, 'the names of a view are stored with it');
  return withNames(stored, JSON.parse(list) as string[]);
}

/** A view; a reference is written `→<view id>`. @param body with its names */
export function viewOf(environmentId: string, sourceId: string, body: Buffer): Json {
  const { texts, references } = decodeBody(body, sourceId);
  const text = texts.map((piece, index) => {
    const reference = references[index];
    return (
      piece.toString() + (reference === undefined ? '' : JSON.stringify(`→${idOf(environmentId, reference)}`))
    );
  });
  return JSON.parse(text.join('')) as Json;
}

function idOf(environmentId: string, { target, viewId }: StoredReference): string | null {
  return target === null ? viewId : formatViewId({ environmentId, ...target });
}

/** All claims of an environment by their field, in the stored order. */
export async function storedClaims(
  store: Store,
  tenant: string,
  environmentId: string,
): Promise<Map<string, Claim[]>> {
  const claims = new Map<string, Claim[]>();
  for (const tag of store.partitions.tags) {
    const hash = await store.client.hgetallBuffer(keys.claims(tag, tenant, environmentId));
    for (const [field, stored] of Object.entries(hash)) {
      const served = unpackServed(field, stored);
      if (fieldOfCompetingClaim(field) === null && !served.isContested) claims.set(field, [...served.claims]);
    }
    const members = await store.client.zrange(keys.ranks(tag, tenant, environmentId), '0', '-1');
    for (const { field, competingClaimField } of ranksIn(members)) {
      const stored = hash[competingClaimField];
      if (stored === undefined) throw new Error(`${competingClaimField} is ranked, but missing`);
      claims.set(field, [...(claims.get(field) ?? []), unpackClaim(field, stored)]);
    }
  }
  return claims;
}

/** What is served, by claim field. */
export async function storedServed(
  store: Store,
  tenant: string,
  environmentId: string,
): Promise<Map<string, ServedClaims>> {
  const served = new Map<string, ServedClaims>();
  for (const tag of store.partitions.tags) {
    const hash = await store.client.hgetallBuffer(keys.claims(tag, tenant, environmentId));
    for (const [field, stored] of Object.entries(hash)) {
      if (fieldOfCompetingClaim(field) === null) served.set(field, unpackServed(field, stored));
    }
  }
  return served;
}

/** Ranks of claims by field and rank; each is listed by its host too, where it is read. */
function ranksIn(members: readonly string[]): { field: string; rank: string; competingClaimField: string }[] {
  const ranks = members.flatMap((member) => {
    const field = fieldOfCompetingClaim(member) ?? '';
    const beginning = `${Buffer.byteLength(field)}:${field}`;
    const place = member.slice(beginning.length);
    if (!place.startsWith('h')) return [];
    const rank = place.slice(place.indexOf('\0') + 1);
    return [{ field, rank, competingClaimField: `r:${beginning}${rank.slice(0, 1)}${rank.slice(17)}` }];
  });
  return ranks.sort((a, b) => Buffer.compare(Buffer.from(a.rank), Buffer.from(b.rank)));
}

export async function storedRoutes(store: Store, tenant: string, environmentId: string): Promise<string[]> {
  const routes = await Promise.all(
    store.partitions.tags.map((tag) => listedTexts(store.client, keys.routes(tag, tenant, environmentId))),
  );
  return routes.flat().sort();
}

/** Lookup entries as `<key> <originId> <projection>`, of all partitions. @param tenant absent: of all */
export async function storedEntries(store: Store, tenant?: string): Promise<string[]> {
  const entries: string[] = [];
  for (const key of await store.client.keys(`*:lookup:${tenant === undefined ? '' : `${tenant}:`}*`)) {
    const [tag = '', , ...rest] = key.split(':');
    for (const [originId, projection] of Object.entries(await store.client.hgetall(key))) {
      entries.push(`${tag} ${rest.join(':')} ${originId} ${projection}`);
    }
  }
  return entries.sort();
}

/** The entries that the stored entities must have. @param isPublished absent: all are */
export async function expectedEntries(
  store: Store,
  tenants: Iterable<Tenant>,
  isPublished: (entity: StoredEntity) => boolean = () => true,
): Promise<string[]> {
  const entries: string[] = [];
  for (const tenant of tenants) {
    for (const [sourceId, layout] of tenant.lookupLayouts) {
      for (const tag of store.partitions.tags) {
        const originIds = await store.client.hkeys(keys.entities(tag, tenant.alias, sourceId));
        const refs = originIds.map((originId) => ({ sourceId, originId }));
        for (const entity of await readEntities(store, tenant.alias, refs)) {
          if (entity === null || !isPublished(entity)) continue;
          for (const lookupKey of entriesOf(layout, entity)) {
            const text = `${tenant.alias}:${sourceId}:${lookupKey}`;
            const home = store.partitions.tag(store.partitions.ofText(text));
            const place = `${tenant.alias}:${sourceId}:${layout.id}:${lookupKey}`;
            entries.push(`${home} ${place} ${entity.originId} ${JSON.stringify(project(layout, entity))}`);
          }
        }
      }
    }
  }
  return entries.sort();
}

export function tenantsOf(documents: ReadonlyMap<string, string>): Tenant[] {
  const loaded = loadConfiguration(documents);
  if (!loaded.ok) throw new Error(loaded.issues[0]?.message);
  return [...loaded.configuration.tenants.values()];
}
