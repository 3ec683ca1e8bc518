/** Invariants of the store, and of the workers' memory, when no work is left. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Worker } from '../../../../src/actors/worker.ts';
import type { EntityRef } from '../../../../src/contract/ids.ts';
import type { Json } from '../../../../src/contract/json.ts';
import type { Claim } from '../../../../src/store/claims/claim-records.ts';
import { decodeItem, namesDigestOf } from '../../../../src/store/derived/item-record.ts';
import { namesDigestOfBody } from '../../../../src/store/derived/nameless-body.ts';
import { readEntities } from '../../../../src/store/entities/entities.ts';
import { parseScheduleText } from '../../../../src/store/entities/entity-schedule.ts';
import { keys, type Partitions } from '../../../../src/store/keys.ts';
import type { Store } from '../../../../src/store/store.ts';
import { nameOf, type RecordingSink, storedItems } from '../../../actors/support/fleet.ts';
import {
  bodyWith,
  expectedEntries,
  storedClaims,
  storedEntries,
  storedRoutes,
  storedServed,
  viewOf,
} from '../../../actors/support/stored.ts';
import { sourceIds, type World } from '../../../actors/support/world.ts';
import { instantStore } from '../redis/instant-store.ts';
import type { Keyspace } from '../redis/keyspace.ts';
import { environmentId, type Site } from '../site.ts';
import type { Writes } from '../writes.ts';
import { Announcements } from './announcements.ts';
import type { ClaimAges } from './claim-ages.ts';
import { checkLists } from './ordered-lists.ts';

interface Member {
  readonly worker: Pick<Worker, 'covered'>;
  readonly sink: RecordingSink;
}

/** The remaining work of some partition, or null if there is none and the invariants can be checked. */
export function whatWaits(keyspace: Keyspace, tags: readonly string[], nowMs: number): string | null {
  const nextMs = nextMoment(keyspace);
  if (nextMs !== null && nextMs <= nowMs) return `a moment is due since ${nowMs - nextMs} ms`;
  for (const tag of tags) {
    const end = keyspace.hash(keys.clock(tag)).get('stream') ?? '0';
    const checkpoint = keyspace.hash(keys.owner(tag)).get('checkpoint') ?? '0';
    if (checkpoint !== end) return `${tag} is at ${checkpoint} of ${end}`;
    const rebuilds = keyspace.hash(keys.pendingRebuilds(tag)).size;
    if (rebuilds > 0) return `${rebuilds} rebuilds wait in ${tag}`;
    const intents = keyspace.hash(keys.intents(tag)).size;
    if (intents > 0) return `${intents} intents are left in ${tag}`;
  }
  return null;
}

/** The earliest scheduled time of an entity; null if there is none. */
export function nextMoment(keyspace: Keyspace): number | null {
  const leaves = keyspace.names().filter((name) => /^[^:]*:leaf:\d+:schedule:/.test(name));
  const moments = leaves.flatMap((leaf) => keyspace.list(leaf)).map((text) => parseScheduleText(text).atMs);
  return moments.length === 0 ? null : Math.min(...moments);
}

/**
 * Compares the store with a naive recomputation. The comparison is skipped while the tenant's keys, its entities and the site
 * are unchanged.
 */
export class StoreCheck {
  #site: Site | null = null;
  readonly #store: Store;
  readonly #announcements: Announcements;

  constructor(
    private readonly keyspace: Keyspace,
    partitions: Partitions,
    private readonly writes: Pick<Writes, 'worlds' | 'changed' | 'ages'>,
    /** True if no claim changes with a commit. */
    isLikeCluster: boolean,
  ) {
    this.#store = instantStore(keyspace, partitions);
    this.#announcements = new Announcements(keyspace, partitions.tags, isLikeCluster);
  }

  /**
   * Must be called while nothing runs.
   * @param site the last published one
   * @throws AssertionError
   */
  async check(site: Site): Promise<void> {
    const { keyspace, writes } = this;
    const changed = new Set<string>(this.#site === site ? writes.changed : writes.worlds.keys());
    for (const key of keyspace.written) changed.add(tenantOf(key));
    for (const [tenant, world] of writes.worlds) {
      if (!changed.has(tenant)) continue;
      await checkTenant(this.#store, this.keyspace, site, tenant, world);
      await checkClaimOrder(this.#store, keyspace, tenant, writes.ages.get(tenant));
    }
    checkLists(keyspace, this.#store.partitions, writes.worlds);
    this.#announcements.check();
    this.#site = site;
    keyspace.written.clear();
    writes.changed.clear();
  }
}

/** The tenant of a key that belongs to one. */
function tenantOf(key: string): string {
  return key.split(':', 3)[2] ?? '';
}

async function checkTenant(
  store: Store,
  keyspace: Keyspace,
  site: Site,
  tenant: string,
  world: World,
): Promise<void> {
  await checkEntities(store, tenant, world);
  const views = storedViews(keyspace, store.partitions.tags, tenant);
  checkEqual(sorted(views), sorted(site.views(world)), `views of ${tenant}`);
  const items = await storedItems(store, { tenant, environmentId }, 'pages');
  const fields = new Map([...items].map(([originId, item]) => [originId, item.fields]));
  checkEqual(sorted(fields), sorted(site.pageItems(world)), `items of ${tenant}`);
  await checkClaims(store, tenant, site.claims(world));
  const tenants = site.loadedTenants.filter(({ alias }) => alias === tenant);
  checkEqual(
    await storedEntries(store, tenant),
    await expectedEntries(store, tenants, ({ sourceId, originId }) => {
      const entity = world.of(sourceId).get(originId);
      return entity !== undefined && world.isPublished(entity);
    }),
    `lookups of ${tenant}`,
  );
}

/** The lists of names of a source in a partition, by digest. */
type NameLists = ReadonlyMap<string, string>;

/** Caches decoded values, because most of the store is unchanged since the last check. */
class Decoded<T> {
  readonly #known = new Map<string, T>();

  constructor(private readonly decode: (bytes: Buffer, ref: EntityRef, names: NameLists) => T) {}

  of(ref: EntityRef, stored: string, names: NameLists = new Map()): T {
    const name = `${ref.sourceId}:${ref.originId} ${stored}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const decoded = this.decode(Buffer.from(stored, 'latin1'), ref, names);
    if (this.#known.size === decodedMax) this.#known.clear();
    this.#known.set(name, decoded);
    return decoded;
  }
}

const decodedMax = 5_000;
const decodedViews = new Decoded((stored, { sourceId }, names) => {
  const digest = namesDigestOfBody(stored);
  const list = digest && (names.get(digest.toString('latin1')) ?? null);
  return viewOf(environmentId, sourceId, bodyWith(stored, list));
});
const decodedItems = new Decoded((bytes, ref, names) => {
  const digest = namesDigestOf(bytes);
  const list = digest === null ? 'null' : names.get(digest.toString('latin1'));
  assert.ok(list !== undefined, 'the names of an item are stored with it');
  const item = decodeItem(ref, bytes, JSON.parse(list) as string[] | null);
  return { item, text: JSON.stringify(item.fields) };
});

function storedViews(keyspace: Keyspace, tags: readonly string[], tenant: string): Map<string, Json> {
  const views = new Map<string, Json>();
  for (const tag of tags) {
    for (const sourceId of sourceIds) {
      const names = keyspace.hash(keys.names(tag, tenant, sourceId));
      for (const [field, stored] of keyspace.hash(keys.views(tag, tenant, environmentId, sourceId))) {
        views.set(`${sourceId}:${field}`, decodedViews.of({ sourceId, originId: field }, stored, names));
      }
    }
  }
  return views;
}

/** Describing a difference costs far more than detecting it. */
function checkEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) assert.deepEqual(actual, expected, what);
}

/** Promise 2: everything that was acknowledged exists in its last state, and nothing else. */
async function checkEntities(store: Store, tenant: string, world: World): Promise<void> {
  for (const sourceId of sourceIds) {
    const known: string[] = [];
    for (const tag of store.partitions.tags) {
      known.push(...(await store.client.hkeys(keys.entities(tag, tenant, sourceId))));
    }
    const sent = world.of(sourceId);
    checkEqual(known.sort(), [...sent.keys()].sort(), `entities of ${tenant} ${sourceId}`);
    const refs = known.map((originId) => ({ sourceId, originId }));
    for (const stored of await readEntities(store, tenant, refs)) {
      const { properties, url, type, times } = sent.get(stored?.originId ?? '') ?? {};
      const found = {
        properties: stored?.properties,
        url: stored?.url,
        type: stored?.type,
        times: stored?.times,
      };
      checkEqual(found, { properties, url, type, times }, `${tenant} ${sourceId} ${stored?.originId}`);
    }
  }
}

async function checkClaims(store: Store, tenant: string, expected: readonly string[]): Promise<void> {
  const stored = await storedClaims(store, tenant, environmentId);
  const lines: string[] = [];
  const listed: string[] = [];
  for (const [field, claims] of stored) {
    for (const { kind, view, display, redirect } of claims) {
      lines.push(`${field} ${kind} ${view.alias} ${view.originId} ${display} ${redirect ?? '-'}`);
    }
    if (field.startsWith('u:')) listed.push(...new Set(firstsOf(claims).map(({ display }) => display)));
  }
  checkEqual(lines.sort(), expected, `claims of ${tenant}`);
  checkEqual(await storedRoutes(store, tenant, environmentId), listed.sort(), `routes of ${tenant}`);
}

/** Claims that are served on a path: the first of each host, but no redirect if a page is served on every host. */
function servedOf(claims: readonly Claim[]): Claim[] {
  const isPageEverywhere = claims.some(({ host, kind }) => host === null && kind === 'page');
  return firstsOf(claims).filter(({ kind }) => kind === 'page' || !isPageEverywhere);
}

function firstsOf(claims: readonly Claim[]): Claim[] {
  return claims.filter(({ host }, at) => claims.findIndex((other) => other.host === host) === at);
}

/** What is served must follow from the order of all claims, and fields with several must be listed as conflicts. */
async function checkClaimOrder(
  store: Store,
  keyspace: Keyspace,
  tenant: string,
  ages: ClaimAges | undefined,
): Promise<void> {
  const served = await storedServed(store, tenant, environmentId);
  const stored = await storedClaims(store, tenant, environmentId);
  const clashes = new Map<string, string>();
  for (const [field, claims] of stored) {
    checkEqual(claims, [...claims].sort(byPrecedence), `order of the claims on ${field} of ${tenant}`);
    const record = { claims: servedOf(claims), isContested: claims.length > 1, hasMore: false };
    checkEqual(served.get(field), record, `what is served on ${field} of ${tenant}`);
    if (claims.length > 1) clashes.set(field, String(claims.length));
    if (field.startsWith('u:')) checkAges(claims, ages, `${field} of ${tenant}`);
  }
  checkEqual([...served.keys()].sort(), [...stored.keys()].sort(), `claimed fields of ${tenant}`);
  const listed = store.partitions.tags.flatMap((tag) => [
    ...keyspace.hash(keys.clashes(tag, tenant, environmentId)),
  ]);
  checkEqual(sorted(new Map(listed)), sorted(clashes), `clashes of ${tenant}`);
}

/** Pages before redirects, later claims before older ones; ids break ties. */
function byPrecedence(a: Claim, b: Claim): number {
  const byText = (x: string, y: string) => (x === y ? 0 : x < y ? -1 : 1);
  return (
    byText(a.kind, b.kind) ||
    b.sinceStamp - a.sinceStamp ||
    byText(a.view.alias, b.view.alias) ||
    byText(a.view.sourceId, b.view.sourceId) ||
    byText(a.view.originId, b.view.originId) ||
    byText(a.host ?? '', b.host ?? '')
  );
}

/** Of two pages with the same URL, the one that got it later must be first. */
function checkAges(claims: readonly Claim[], ages: ClaimAges | undefined, what: string): void {
  const pages = claims.filter(({ kind, view }) => kind === 'page' && view.alias === 'page');
  for (let at = 1; at < pages.length; at += 1) {
    const [former = '', later = ''] = pages.slice(at - 1, at + 1).map(({ view }) => view.originId);
    const [before, after] = [ages?.of(former), ages?.of(later)];
    assert.ok(
      before === undefined || after === undefined || before.last >= after.first,
      `${what}: ${former} comes before ${later}, which claimed it later`,
    );
  }
}

/**
 * Describes a partition that is not served, or whose shard in memory differs from Redis; null if there is none. Must be
 * repeated while ownership moves.
 */
export function checkMemory(
  keyspace: Keyspace,
  partitions: Partitions,
  members: readonly Member[],
): string | null {
  for (const [partition, tag] of partitions.tags.entries()) {
    const serving = members.filter(({ worker }) => worker.covered().has(partition));
    const [member] = serving;
    if (member === undefined || serving.length > 1) {
      return `partition ${partition} is served by ${serving.length} workers`;
    }
    const inRedis = itemsOf(keyspace, tag);
    const inMemory = [...(member.sink.items(partition) ?? [])].map(
      ([name, { fields }]) => `${name} ${JSON.stringify(fields)}`,
    );
    if (!isDeepStrictEqual(inMemory.sort(), inRedis.sort())) {
      return `partition ${partition} has ${inRedis} and its worker ${inMemory}`;
    }
  }
  return null;
}

function itemsOf(keyspace: Keyspace, tag: string): string[] {
  const items: string[] = [];
  for (const place of keyspace.hash(keys.itemIndexes(tag)).keys()) {
    const [tenant = '', environment = '', index = ''] = place.split('|');
    for (const sourceId of sourceIds) {
      const names = keyspace.hash(keys.names(tag, tenant, sourceId));
      for (const [originId, stored] of keyspace.hash(keys.items(tag, tenant, environment, sourceId, index))) {
        const { item, text } = decodedItems.of({ sourceId, originId }, stored, names);
        items.push(`${nameOf({ tenant, environmentId: environment }, index, item)} ${text}`);
      }
    }
  }
  return items;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
