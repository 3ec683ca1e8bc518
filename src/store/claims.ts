/** Claims of views on URLs and handles, and the list of routes that they make. */
import { normalizeUrl } from '../config/url.ts';
import { storeError } from './connection.ts';
import { DigestList } from './digest.ts';
import type { HashField } from './field-reader.ts';
import { claimField, keys } from './keys.ts';
import type { Caller } from './lease.ts';
import { packForLua } from './lua-list.ts';
import { pack, unpack } from './pack.ts';
import { Script } from './script.ts';
import type { Store } from './store.ts';
import { claimSubject } from './subjects.ts';
import type { Claim, EnvironmentScope, RouteEntry } from './types.ts';

const claimScript = new Script<number>('claim', 3);
/** Claims of one Lua call: Redis does nothing else meanwhile. */
const claimsPerCall = 400;

/** Announcements kept per partition; a reader that falls behind more empties its cache. */
export const changesKept = 500;

/** Times are digits: packed numbers of their size look otherwise from Redis' scripts than from here. */
type PackedClaim = [
  host: string | false,
  kind: 0 | 1,
  sinceStamp: string,
  sourceId: string,
  alias: string,
  originId: string,
  display: string,
  redirect: string | false,
  updatedAtMs: string,
];

export interface ClaimWrite {
  readonly action: 'put' | 'drop';
  readonly scope: EnvironmentScope;
  /** From `claimField`. */
  readonly field: string;
  readonly claim: Claim;
}

function partitionOf(store: Store, scope: EnvironmentScope, field: string): number {
  return store.partitions.ofText(claimSubject(scope, field));
}

/** Applies claims, in order for each field. Idempotent. @throws FencedError, StoreUnavailableError */
export async function writeClaims(
  store: Store,
  caller: Caller,
  writes: readonly ClaimWrite[],
): Promise<void> {
  const groups = new Map<number, ClaimCall[]>();
  for (const write of writes) {
    const subject = claimSubject(write.scope, write.field);
    const partition = store.partitions.ofText(subject);
    const calls = groups.get(partition) ?? [];
    groups.set(partition, calls);
    const last = calls.at(-1);
    if (last?.add(write, subject)) continue;
    const call = new ClaimCall(store.partitions.tag(partition));
    call.add(write, subject);
    calls.push(call);
  }
  await Promise.all(
    [...groups].map(async ([partition, calls]) => {
      const tag = store.partitions.tag(partition);
      caller.reached?.add(tag);
      const callKeys = [keys.fence(tag), keys.clock(tag), keys.changes(tag)];
      const { partition: from, epoch } = caller;
      for (const call of calls) {
        await claimScript.run(store.client, callKeys, [from, epoch, changesKept, call.packed()]);
      }
    }),
  );
}

/** Claims of one action in one environment. */
interface ClaimRun {
  readonly action: ClaimWrite['action'];
  readonly scope: EnvironmentScope;
  readonly fields: string[];
  readonly digests: DigestList;
  readonly displays: string[];
  readonly records: Buffer[];
}

/** Claims of one partition, in the order given. */
class ClaimCall {
  readonly #runs: ClaimRun[] = [];
  #count = 0;

  constructor(private readonly tag: string) {}

  /** False when the call is full. */
  add({ action, scope, field, claim }: ClaimWrite, subject: string): boolean {
    if (this.#count === claimsPerCall) return false;
    this.#count += 1;
    const run = this.#run(action, scope);
    run.fields.push(field);
    run.digests.add(subject);
    run.displays.push(claim.display);
    run.records.push(packClaim(claim));
    return true;
  }

  /** As `scripts/claim.lua` reads it. */
  packed(): Buffer {
    return packForLua(
      this.#runs.map(({ action, scope, fields, digests, displays, records }) => {
        const { tenant, environmentId } = scope;
        const claims = keys.claims(this.tag, tenant, environmentId);
        const routes = keys.routes(this.tag, tenant, environmentId);
        const clashes = keys.clashes(this.tag, tenant, environmentId);
        return [action, claims, routes, clashes, fields, digests.bytes, displays, records];
      }),
    );
  }

  #run(action: ClaimWrite['action'], scope: EnvironmentScope): ClaimRun {
    const last = this.#runs.at(-1);
    if (last?.action === action && sameScope(scope, last.scope)) return last;
    const run = { action, scope, fields: [], digests: new DigestList(), displays: [], records: [] };
    this.#runs.push(run);
    return run;
  }
}

function sameScope(a: EnvironmentScope, b: EnvironmentScope): boolean {
  return a.tenant === b.tenant && a.environmentId === b.environmentId;
}

/** As the record of a field with this claim alone, which is what most records are. */
function packClaim({ host, kind, sinceStamp, view, display, redirect, updatedAtMs }: Claim): Buffer {
  const packed: PackedClaim = [
    host ?? false,
    kind === 'page' ? 0 : 1,
    String(sinceStamp),
    view.sourceId,
    view.alias,
    view.originId,
    display,
    redirect ?? false,
    String(updatedAtMs),
  ];
  return pack([packed]);
}

/** The value of a claim field. */
export function unpackClaims(stored: Buffer | null | undefined): Claim[] {
  if (!stored) return [];
  return unpack<PackedClaim[]>(stored).map(
    ([host, kind, sinceStamp, sourceId, alias, originId, display, redirect, updatedAtMs]) => ({
      host: host === false ? null : host,
      kind: kind === 0 ? 'page' : 'redirect',
      sinceStamp: Number(sinceStamp),
      view: { sourceId, alias, originId },
      display,
      redirect: redirect === false ? null : redirect,
      updatedAtMs: Number(updatedAtMs),
    }),
  );
}

/**
 * All claims on normalized URL paths and on handles: a page before a redirect, the latest first.
 * @throws StoreUnavailableError
 */
export async function readClaims(
  store: Store,
  scope: EnvironmentScope,
  asked: { readonly paths: readonly string[]; readonly handles: readonly string[] },
): Promise<{ paths: Claim[][]; handles: Claim[][] }> {
  const fields = [...asked.paths.map(claimField.url), ...asked.handles.map(claimField.handle)];
  const claims = await readClaimFields(store, scope, fields);
  return { paths: claims.slice(0, asked.paths.length), handles: claims.slice(asked.paths.length) };
}

/** Tag of the partition that keeps a claim field. */
export function claimTag(store: Store, scope: EnvironmentScope, field: string): string {
  return store.partitions.tag(partitionOf(store, scope, field));
}

/** All claims on claim fields, in the order asked; the served one first. @throws StoreUnavailableError */
export async function readClaimFields(
  store: Store,
  scope: EnvironmentScope,
  fields: readonly string[],
): Promise<Claim[][]> {
  const stored = await store.fields.read(fields.map((field) => placeOfClaims(store, scope, field)));
  return stored.map(unpackClaims);
}

/** Where the claims on a claim field lie. */
export function placeOfClaims(store: Store, scope: EnvironmentScope, field: string): HashField {
  return { key: keys.claims(claimTag(store, scope, field), scope.tenant, scope.environmentId), field };
}

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
      entries: entries.filter((entry) => entry !== null),
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
): Promise<(RouteEntry | null)[]> {
  const fields = urls.map((url) => claimField.url(normalizeUrl(url)?.path ?? url));
  const claims = await readClaimFields(store, scope, fields);
  return urls.map((url, index) => {
    const claim = claims[index]?.find(({ display }) => display === url);
    // Gone between the two reads: it did not stay, so the page may leave it out.
    if (claim === undefined) return null;
    return { url, redirect: claim.redirect, updatedAtMs: claim.updatedAtMs };
  });
}

/** Number of URLs and handles that several views claim. @throws StoreUnavailableError */
export async function countClashes(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
): Promise<number> {
  try {
    const counts = await Promise.all(
      store.partitions.tags.map((tag) => store.client.hlen(keys.clashes(tag, tenant, environmentId))),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  } catch (error) {
    throw storeError(error);
  }
}
