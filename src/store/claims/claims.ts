/** Reads and writes claims of views on URLs and handles. */

import type { UrlForm } from '../../config/urls/url.ts';
import { assert } from '../../lib/assert.ts';
import { groupBy, sum } from '../../lib/lists.ts';
import { digestOf } from '../codec/digest.ts';
import { claimSubject } from '../derived/subjects.ts';
import { keys, routesEnd, urlFormOfField } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import type { HashField } from '../redis/field-reader.ts';
import { type LuaValue, packForLua } from '../redis/lua-list.ts';
import { sortByText } from '../redis/ordered-lists.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { OwnerScript } from '../redis/script.ts';
import { type EnvironmentScope, isSameScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import {
  type Claim,
  type ClaimWrite,
  claimTag,
  packClaim,
  type ServedClaims,
  unpackServed,
} from './claim-records.ts';
import { readCompetingClaims } from './competing-claims.ts';

/** The served claims of claim fields, in the given order. @throws StoreUnavailableError */
export async function readServed(
  store: Store,
  scope: EnvironmentScope,
  fields: readonly string[],
): Promise<ServedClaims[]> {
  const stored = await store.fields.read(fields.map((field) => fieldOfClaims(store, scope, field)));
  return fields.map((field, at) => unpackServed(field, stored[at]));
}

/**
 * All claims of claim fields, in the given order, sorted by rank.
 * @param limit stop after this many claims of a contested field, which are then not necessarily the first by rank
 * @throws StoreUnavailableError
 */
export async function readClaimFields(
  store: Store,
  scope: EnvironmentScope,
  fields: readonly string[],
  limit?: number,
): Promise<Claim[][]> {
  const served = await readServed(store, scope, fields);
  return await Promise.all(
    served.map(async ({ claims, isContested }, index) => {
      if (!isContested) return [...claims];
      const competing = await readCompetingClaims(store, scope, fields[index] ?? '', limit);
      return competing.flatMap(({ claim }) => claim ?? []);
    }),
  );
}

/** The location of the record of a claim field. */
export function fieldOfClaims(store: Store, scope: EnvironmentScope, field: string): HashField {
  return { key: keys.claims(claimTag(store, scope, field), scope.tenant, scope.environmentId), field };
}

/** Number of URLs and handles that several views claim. @throws StoreUnavailableError */
export async function countClashes(
  store: Store,
  { tenant, environmentId }: EnvironmentScope,
): Promise<number> {
  const counts = await answerOf(
    Promise.all(
      store.partitions.tags.map((tag) => store.client.hlen(keys.clashes(tag, tenant, environmentId))),
    ),
  );
  return sum(counts);
}

/** Parts of the scripts that move claims. */
export const claimParts = ['calls', 'ordered-lists', 'change-log', 'service', 'claims'] as const;
const claimScript = new OwnerScript<number>('claims/claim', 1, claimParts);

/** Announcements kept per partition; a reader that falls behind more empties its cache. */
export const changesKept = 500;

/** Applies claims, in order for each field. Idempotent. @throws FencedError, StoreUnavailableError */
export async function writeClaims(
  store: Store,
  caller: Caller,
  writes: readonly ClaimWrite[],
): Promise<void> {
  // A claim that moves to another field must exist there before it is dropped here. A batch never drops a claim that it puts,
  // so the result is the same.
  const drops = writes.filter(({ action }) => action === 'drop');
  await writeInLanes(
    store,
    caller,
    drops.length === 0 ? writes : writes.filter(({ action }) => action !== 'drop'),
  );
  await writeInLanes(store, caller, drops);
}

async function writeInLanes(store: Store, caller: Caller, writes: readonly ClaimWrite[]): Promise<void> {
  if (writes.length === 0) return;
  const groups = byPartition(store, writes);
  for (const partition of groups.keys()) caller.reached?.add(store.partitions.tag(partition));
  await Promise.all(lanesOf(store, groups).map((calls) => makeCalls(store, caller, calls)));
}

async function makeCalls(
  store: Store,
  caller: Caller,
  calls: readonly (readonly ClaimGroup[])[],
): Promise<void> {
  for (const groups of calls) {
    const [first] = groups;
    if (first === undefined) continue;
    await claimScript.run(
      store.client,
      caller,
      [keys.fence(first.tag)],
      [caller.partition, caller.epoch, changesKept, packCall(groups)],
    );
  }
}

/** Maximum number of claims in a Lua call, which blocks Redis. */
export const claimsPerCall = 400;

interface PlacedClaim {
  readonly write: ClaimWrite;
  readonly subject: string;
  readonly partition: number;
  /** Tag of the partition that stores its traces. */
  readonly traceTag: string;
}

/** Groups claims by the partition of their field, which also stores their traces; claims of a field stay in order. */
function byPartition(store: Store, writes: readonly ClaimWrite[]): Map<number, PlacedClaim[]> {
  const placed = writes.map((write) => place(store, write, null));
  return groupBy(placed, ({ partition }) => partition);
}

/** @param commitTag tag of the partition whose commit writes the claim; null: it is written separately */
function place({ partitions }: Store, write: ClaimWrite, commitTag: string | null): PlacedClaim {
  const subject = claimSubject(write.scope, write.field);
  const partition = partitions.ofText(subject);
  return { write, subject, partition, traceTag: commitTag ?? partitions.tag(partition) };
}

/** Claims of one partition in a call. */
interface ClaimGroup {
  readonly tag: string;
  readonly claims: readonly PlacedClaim[];
}

/**
 * Calls of bounded size, in lanes of sequential calls. In a cluster each partition has a lane, because a call is limited to one
 * slot. On a single Redis there is one lane for all partitions.
 */
function lanesOf(store: Store, groups: ReadonlyMap<number, readonly PlacedClaim[]>): ClaimGroup[][][] {
  const portions = [...groups].map(([partition, claims]) =>
    Array.from({ length: Math.ceil(claims.length / claimsPerCall) }, (_, index) => ({
      tag: store.partitions.tag(partition),
      claims: claims.slice(index * claimsPerCall, (index + 1) * claimsPerCall),
    })),
  );
  if (store.address.kind === 'cluster') return portions.map((ofPartition) => ofPartition.map((one) => [one]));
  const calls: ClaimGroup[][] = [];
  let room = 0;
  for (const portion of portions.flat()) {
    if (room < portion.claims.length) {
      calls.push([]);
      room = claimsPerCall;
    }
    calls.at(-1)?.push(portion);
    room -= portion.claims.length;
  }
  return [calls];
}

/** Claims that a commit writes. */
interface CommittedClaims {
  /** Tag of the committing partition, which stores the traces. */
  readonly tag: string;
  readonly claims: readonly ClaimWrite[];
}

/**
 * Claims of commits for `scripts/partitions/commit.lua`, on a single Redis. They have no digests, because the commits announce
 * them themselves.
 */
export function packClaims(store: Store, commits: readonly CommittedClaims[]): Buffer {
  const placed = commits.flatMap(({ tag, claims }) => claims.map((write) => place(store, write, tag)));
  return packForLua(
    [...groupBy(placed, ({ partition }) => partition)].flatMap(([partition, claims]) =>
      runsOf(claims).map((run) => runForLua(store.partitions.tag(partition), run, [])),
    ),
  );
}

/** In runs with the same action and environment, packed for `scripts/claims/claim.lua`. */
function packCall(groups: readonly ClaimGroup[]): Buffer {
  return packForLua(
    groups.map(({ tag, claims }) => [
      keys.fence(tag),
      keys.clock(tag),
      keys.changes(tag),
      runsOf(claims).map((run) =>
        runForLua(
          tag,
          run,
          run.map(({ subject }) => digestOf(subject)),
        ),
      ),
    ]),
  );
}

/**
 * Runs of neighbours with the same action, environment and list of routes, without repeated fields. Runs of `put` are in the
 * order of the list.
 */
function runsOf(claims: readonly PlacedClaim[]): PlacedClaim[][] {
  const runs: PlacedClaim[][] = [];
  const fields = new Set<string>();
  let last: ClaimWrite | null = null;
  for (const placed of claims) {
    const { write } = placed;
    const continues = last !== null && last.action === write.action && sameLists(last, write);
    if (continues && !fields.has(write.field)) runs.at(-1)?.push(placed);
    else {
      runs.push([placed]);
      fields.clear();
    }
    fields.add(write.field);
    last = write;
  }
  for (const run of runs) if (run[0]?.write.action === 'put') sortByText(run, displayOf);
  return runs;
}

function displayOf({ write }: PlacedClaim): string {
  return write.claim.display;
}

function sameLists(a: ClaimWrite, b: ClaimWrite): boolean {
  return isSameScope(a.scope, b.scope) && routesFormOf(a.field) === routesFormOf(b.field);
}

/** The list of routes of a claim. Handles are in none. */
function routesFormOf(field: string): UrlForm {
  return urlFormOfField(field) ?? 'exact';
}

/** Packed for `scripts/parts/claims.lua`. @param digests of the subjects; none for a commit */
function runForLua(tag: string, run: readonly PlacedClaim[], digests: readonly Buffer[]): LuaValue {
  const [first] = run;
  assert(first !== undefined, 'a run of claims holds at least one');
  const { traceTag } = first;
  const { action, scope, field } = first.write;
  return [
    action,
    [traceTag, scope.tenant, scope.environmentId, tag],
    routesEnd(routesFormOf(field)),
    run.map(({ write }) => write.field),
    digests,
    run.map(({ write }) => write.claim.display),
    run.map(({ write }) => packClaim(write.field, write.claim)),
    run.every(({ write }) => write.isReported) ? [] : run.map(({ write }) => (write.isReported ? 0 : 1)),
    run.every((claim) => claim.traceTag === traceTag) ? [] : run.map((claim) => claim.traceTag),
  ];
}
