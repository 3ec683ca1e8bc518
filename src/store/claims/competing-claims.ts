/**
 * Reads the claims of contested fields by rank (`scripts/parts/claims.lua` maintains them). The record of a field is bounded
 * and may not contain all of them. The cost of a read depends on the size of its result, not on how many views claim the field.
 */

import { groupBy } from '../../lib/lists.ts';
import { longId, shortId } from '../codec/short-id.ts';
import { keys } from '../keys.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { Script } from '../redis/script.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { type Claim, claimTag, unpackClaim } from './claim-records.ts';

const competingScript = new Script<Buffer[][]>('claims/competing', 2);
const claimsPerRead = 200;
/** A rank contains this minus the stamp of its claim, so that later claims sort first. */
const largestStamp = Number.MAX_SAFE_INTEGER;
const fieldPrefix = 'r:';

/** One of several claims on a field. */
export interface CompetingClaim {
  /** Claims are served in the order of their ranks. */
  readonly rank: Buffer;
  /** The claim data in the rank. */
  readonly ranked: RankedClaim;
  /** Null if the claim is missing, which only data corruption can cause. */
  readonly claim: Claim | null;
}

export type RankedClaim = Pick<Claim, 'host' | 'kind' | 'sinceStamp' | 'view'>;

/** The prefix of the ranks and claims of a field. No field's prefix is a prefix of another one. */
function prefixOf(field: string): string {
  return `${Buffer.byteLength(field)}:${field}`;
}

/** The hash field of a claim of a contested field. */
export function competingClaimField(
  field: string,
  { host, kind, view }: Pick<Claim, 'host' | 'kind' | 'view'>,
): string {
  return `${fieldPrefix}${prefixOf(field)}${kind === 'page' ? 0 : 1}${tailOf({ host, view })}`;
}

/** The member of a claim of a contested field among the ranks. */
export function rankMember(field: string, { host, kind, sinceStamp, view }: RankedClaim): string {
  return `${prefixOf(field)}h${host ?? ''}\0${rankOf({ host, kind, sinceStamp, view })}`;
}

/** Compares claims on a field by rank. */
export function compareRanks(a: RankedClaim, b: RankedClaim): number {
  return Buffer.compare(Buffer.from(rankOf(a)), Buffer.from(rankOf(b)));
}

function rankOf({ kind, sinceStamp, host, view }: RankedClaim): string {
  const age = String(largestStamp - sinceStamp).padStart(16, '0');
  return `${kind === 'page' ? 0 : 1}${age}${tailOf({ host, view })}`;
}

function tailOf({ host, view }: Pick<Claim, 'host' | 'view'>): string {
  return `${view.alias}\0${shortId(view.sourceId)}\0${view.originId}\0${host ?? ''}`;
}

/** The claim field of a rank or of a hash field of claims; null for a claim field itself. */
export function fieldOfCompetingClaim(stored: string): string | null {
  const [, start, bytes] = /^((?:r:)?([0-9]+):)/.exec(stored) ?? [];
  if (start === undefined) return null;
  const from = Buffer.byteLength(start);
  return Buffer.from(stored)
    .subarray(from, from + Number(bytes))
    .toString();
}

/** A range of a field's ranks. */
interface RankRange {
  readonly field: string;
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly isPerHost: boolean;
}

/** The claims in each range, in the given order; all fields must be in the same partition. */
async function readRanges(
  store: Store,
  scope: EnvironmentScope,
  tag: string,
  ranges: readonly RankRange[],
): Promise<CompetingClaim[][]> {
  const { tenant, environmentId } = scope;
  const packed: LuaValue[] = ranges.map(({ field, from, to, limit, isPerHost }) => [
    prefixOf(field),
    from,
    to,
    limit,
    isPerHost ? 1 : 0,
  ]);
  const replies = await competingScript.run(
    store.client,
    [keys.claims(tag, tenant, environmentId), keys.ranks(tag, tenant, environmentId)],
    [packForLua(packed)],
  );
  return replies.map((reply, at) => competingClaimsIn(ranges[at]?.field ?? '', reply));
}

function competingClaimsIn(field: string, reply: readonly Buffer[]): CompetingClaim[] {
  const competing: CompetingClaim[] = [];
  for (let at = 0; at + 1 < reply.length; at += 2) {
    const [section, packed] = [reply[at], reply[at + 1]];
    if (section === undefined || packed === undefined) continue;
    const rank = section.subarray(section[0] === sectionOfHosts ? section.indexOf(0) + 1 : 1);
    const claim = packed.length === 0 ? null : unpackClaim(field, packed);
    competing.push({ rank, ranked: claimAt(rank), claim });
  }
  return competing;
}

const sectionOfHosts = 'h'.charCodeAt(0);
const ageEnd = 17;

function claimAt(rank: Buffer): RankedClaim {
  const text = rank.toString();
  const [alias = '', sourceId = '', ...rest] = text.slice(ageEnd).split('\0');
  const host = rest.pop() ?? '';
  return {
    host: host === '' ? null : host,
    kind: text.startsWith('0') ? 'page' : 'redirect',
    sinceStamp: largestStamp - Number(text.slice(1, ageEnd)),
    view: { sourceId: longId(sourceId), alias, originId: rest.join('\0') },
  };
}

/** The claims in a section of the ranks, in portions: `h` has all claims by host, `w` the first of each host. */
async function* scanRanks(
  store: Store,
  scope: EnvironmentScope,
  field: string,
  section: 'h' | 'w',
): AsyncGenerator<CompetingClaim[]> {
  const tag = claimTag(store, scope, field);
  const to = section === 'h' ? 'i' : 'x';
  for (let from: string = section; ; ) {
    const [found = []] = await readRanges(store, scope, tag, [
      { field, from, to, limit: claimsPerRead, isPerHost: false },
    ]);
    yield found;
    const last = found.at(-1);
    if (last === undefined || found.length < claimsPerRead) return;
    const host = section === 'h' ? `${last.ranked.host ?? ''}\0` : '';
    from = `${section}${host}${last.rank.toString()}\0`;
  }
}

/** All claims of a contested field, sorted by rank. @throws StoreUnavailableError */
export async function readCompetingClaims(
  store: Store,
  scope: EnvironmentScope,
  field: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<CompetingClaim[]> {
  const competing: CompetingClaim[] = [];
  for await (const found of scanRanks(store, scope, field, 'h')) {
    competing.push(...found);
    if (competing.length >= limit) break;
  }
  return competing.sort((a, b) => Buffer.compare(a.rank, b.rank));
}

/** A claim field and a host; null for claims on every host. */
export interface HostOfField {
  readonly field: string;
  readonly host: string | null;
}

/** The first claim of each host on its contested field, in the given order. @throws StoreUnavailableError */
export async function readFirstOfHosts(
  store: Store,
  scope: EnvironmentScope,
  asked: readonly HostOfField[],
): Promise<(Claim | null)[]> {
  const claims = new Map<HostOfField, Claim | null>();
  await Promise.all(
    [...groupBy(asked, ({ field }) => claimTag(store, scope, field))].map(async ([tag, group]) => {
      const ranges = group.map(({ field, host }) => rangeOfHost(field, host ?? ''));
      const found = await readRanges(store, scope, tag, ranges);
      for (const [index, one] of group.entries()) claims.set(one, found[index]?.[0]?.claim ?? null);
    }),
  );
  return asked.map((one) => claims.get(one) ?? null);
}

function rangeOfHost(field: string, host: string): RankRange {
  return { field, from: `h${host}\0`, to: `h${host}\u0001`, limit: 1, isPerHost: false };
}

/** More than the number of ports. */
const portsMax = 65_536;

/**
 * The first claims of hosts with these names and any port, on a contested field, sorted by rank.
 * @throws StoreUnavailableError
 */
export async function readFirstOfHostnames(
  store: Store,
  scope: EnvironmentScope,
  field: string,
  hostnames: readonly string[],
): Promise<Claim[]> {
  const ranges = hostnames.flatMap((name) => [
    rangeOfHost(field, name),
    { field, from: `h${name}:`, to: `h${name};`, limit: portsMax, isPerHost: true },
  ]);
  const found = await readRanges(store, scope, claimTag(store, scope, field), ranges);
  return found
    .flat()
    .sort((a, b) => Buffer.compare(a.rank, b.rank))
    .flatMap(({ claim }) => claim ?? []);
}

/** The first claims of all hosts on a contested field, sorted by rank, in portions. @throws StoreUnavailableError */
export async function* scanFirstOfHosts(
  store: Store,
  scope: EnvironmentScope,
  field: string,
): AsyncGenerator<Claim[]> {
  for await (const found of scanRanks(store, scope, field, 'w')) {
    yield found.flatMap(({ claim }) => claim ?? []);
  }
}
