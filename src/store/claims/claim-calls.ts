/** Claims as the scripts take them: in runs of one action in one environment, in calls of bounded size. */
import { digestOf } from '../codec/digest.ts';
import { PackWriter } from '../codec/pack-writer.ts';
import { claimSubject } from '../derived/subjects.ts';
import type { EnvironmentScope } from '../environment-scope.ts';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import { writeClaim } from './claim-records.ts';
import type { ClaimWrite } from './claims.ts';

/** Claims of one Lua call: Redis does nothing else meanwhile. */
const claimsPerCall = 400;

export const noDigests: readonly Buffer[] = [];

interface PlacedClaim {
  readonly write: ClaimWrite;
  readonly subject: string;
}

export function byPartition(store: Store, writes: readonly ClaimWrite[]): Map<number, PlacedClaim[]> {
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
export interface ClaimGroup {
  readonly tag: string;
  readonly claims: readonly PlacedClaim[];
}

/**
 * Calls of bounded size that must follow each other, by lane: in a cluster a call reaches one slot alone, one Redis takes
 * the claims of all partitions in one call.
 */
export function lanesOf(store: Store, groups: ReadonlyMap<number, readonly PlacedClaim[]>): ClaimGroup[][][] {
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

export const writer = new PackWriter();

/** As `scripts/claims/claim.lua` reads it. */
export function packCall(groups: readonly ClaimGroup[]): Buffer {
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
export function runsOf(claims: readonly PlacedClaim[]): PlacedClaim[][] {
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
export function writeRun(tag: string, run: readonly PlacedClaim[], digests: readonly Buffer[]): void {
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
