/** Writes claims of views on URLs and handles. */
import { claimSubject } from '../derived/subjects.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import { OwnerScript } from '../redis/script.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { byPartition, type ClaimGroup, claimParts, lanesOf, packCall } from './claim-calls.ts';
import type { ClaimWrite } from './claim-records.ts';

const claimScript = new OwnerScript<number>('claims/claim', 1, claimParts);

/** Announcements kept per partition; a reader that falls behind more empties its cache. */
export const changesKept = 500;

/** The partition of a claim field. */
export function partitionOf(store: Store, scope: EnvironmentScope, field: string): number {
  return store.partitions.ofText(claimSubject(scope, field));
}

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
