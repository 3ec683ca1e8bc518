/** Reads and writes claims of views on URLs and handles. */
import { sum } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import type { HashField } from '../redis/field-reader.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { OwnerScript } from '../redis/script.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { byPartition, type ClaimGroup, claimParts, lanesOf, packCall } from './claim-calls.ts';
import { type Claim, type ClaimWrite, claimTag, type ServedClaims, unpackServed } from './claim-records.ts';
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
