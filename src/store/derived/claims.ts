/** Claims of views on URLs and handles: how they are put, dropped and read. */

import { digestOf } from '../codec/digest.ts';
import { PackWriter } from '../codec/pack-writer.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../partitions/lease.ts';
import { storeError } from '../redis/connection.ts';
import type { HashField } from '../redis/field-reader.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { Claim, EnvironmentScope } from '../types.ts';
import { type ServedClaims, unpackServed, writeClaim } from './claim-records.ts';
import { readRivals } from './rivals.ts';
import { claimSubject } from './subjects.ts';

const claimScript = new OwnerScript<number>('claim', 1, 'claims');
/** Claims of one Lua call: Redis does nothing else meanwhile. */
const claimsPerCall = 400;

/** Announcements kept per partition; a reader that falls behind more empties its cache. */
export const changesKept = 500;

export interface ClaimWrite {
  /** `renew` derives anew what follows from a claim, if it is there: for repairs. */
  readonly action: 'put' | 'drop' | 'renew';
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
  if (writes.length === 0) return;
  const groups = byPartition(store, writes);
  for (const partition of groups.keys()) caller.reached?.add(store.partitions.tag(partition));
  await Promise.all(lanesOf(store, groups).map((calls) => makeCalls(store, caller, calls)));
}

/** As the commit takes them, on one Redis: it tells of them itself. */
export function packClaims(store: Store, writes: readonly ClaimWrite[]): Buffer {
  const runs = [...byPartition(store, writes)].flatMap(([partition, claims]) =>
    runsOf(claims).map((run) => ({ tag: store.partitions.tag(partition), run })),
  );
  writer.begin();
  writer.list(runs.length);
  for (const { tag, run } of runs) writeRun(tag, run, noDigests);
  return writer.take();
}

const noDigests: readonly Buffer[] = [];

interface PlacedClaim {
  readonly write: ClaimWrite;
  readonly subject: string;
}

function byPartition(store: Store, writes: readonly ClaimWrite[]): Map<number, PlacedClaim[]> {
  const groups = new Map<number, PlacedClaim[]>();
  for (const write of writes) {
    const subject = claimSubject(write.scope, write.field);
    const partition = store.partitions.ofText(subject);
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [{ write, subject }]);
    else group.push({ write, subject });
  }
  return groups;
}

/** Claims of one partition that go in one call. */
interface ClaimGroup {
  readonly tag: string;
  readonly claims: readonly PlacedClaim[];
}

/**
 * Calls of bounded size that must follow each other, by lane: in a cluster a call reaches one slot alone, one Redis takes
 * the claims of all partitions in one call.
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

const writer = new PackWriter();

/** As `scripts/claim.lua` reads it. */
function packCall(groups: readonly ClaimGroup[]): Buffer {
  writer.begin();
  writer.list(groups.length);
  for (const { tag, claims } of groups) {
    writer.list(4);
    writer.text(keys.fence(tag));
    writer.text(keys.clock(tag));
    writer.text(keys.changes(tag));
    const runs = runsOf(claims);
    writer.list(runs.length);
    for (const run of runs) {
      const digests = run.map(({ subject }) => digestOf(subject));
      writeRun(tag, run, digests);
    }
  }
  return writer.take();
}

/** Neighbours of one action in one environment. */
function runsOf(claims: readonly PlacedClaim[]): PlacedClaim[][] {
  const runs: PlacedClaim[][] = [];
  let last: ClaimWrite | null = null;
  for (const placed of claims) {
    const { write } = placed;
    if (last !== null && last.action === write.action && sameScope(last.scope, write.scope)) {
      runs.at(-1)?.push(placed);
    } else runs.push([placed]);
    last = write;
  }
  return runs;
}

function sameScope(a: EnvironmentScope, b: EnvironmentScope): boolean {
  return a.tenant === b.tenant && a.environmentId === b.environmentId;
}

/** As `scripts/parts/claims.lua` reads it. */
function writeRun(tag: string, run: readonly PlacedClaim[], digests: readonly Buffer[]): void {
  const [first] = run;
  if (first === undefined) return;
  const { action, scope } = first.write;
  const { tenant, environmentId } = scope;
  writer.list(10);
  writer.text(action);
  writer.text(keys.claims(tag, tenant, environmentId));
  writer.text(keys.routes(tag, tenant, environmentId));
  writer.text(keys.clashes(tag, tenant, environmentId));
  writer.text(keys.ranks(tag, tenant, environmentId));
  writer.text(keys.hidden(tag, tenant, environmentId));
  writer.list(run.length);
  for (const { write } of run) writer.text(write.field);
  writer.list(digests.length);
  for (const digest of digests) writer.textBytes(digest);
  writer.list(run.length);
  for (const { write } of run) writer.text(write.claim.display);
  writer.list(run.length);
  for (const { write } of run) {
    const place = writer.beginText();
    writeClaim(writer, write.claim);
    writer.endText(place);
  }
}

/** Tag of the partition that keeps a claim field. */
export function claimTag(store: Store, scope: EnvironmentScope, field: string): string {
  return store.partitions.tag(partitionOf(store, scope, field));
}

/** What is served on claim fields, in the order asked. @throws StoreUnavailableError */
export async function readServed(
  store: Store,
  scope: EnvironmentScope,
  fields: readonly string[],
): Promise<ServedClaims[]> {
  const stored = await store.fields.read(fields.map((field) => placeOfClaims(store, scope, field)));
  return stored.map(unpackServed);
}

/** All claims on claim fields, in the order asked, best first: as many as there are. @throws StoreUnavailableError */
export async function readClaimFields(
  store: Store,
  scope: EnvironmentScope,
  fields: readonly string[],
): Promise<Claim[][]> {
  const served = await readServed(store, scope, fields);
  return await Promise.all(
    served.map(async ({ claims, isContested }, index) => {
      if (!isContested) return [...claims];
      const rivals = await readRivals(store, scope, fields[index] ?? '');
      return rivals.flatMap(({ claim }) => claim ?? []);
    }),
  );
}

/** Where what is served on a claim field lies. */
export function placeOfClaims(store: Store, scope: EnvironmentScope, field: string): HashField {
  return { key: keys.claims(claimTag(store, scope, field), scope.tenant, scope.environmentId), field };
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
