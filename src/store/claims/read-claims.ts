/** Reads the claims on URLs and handles. */

import { keys } from '../keys.ts';
import type { HashField } from '../redis/field-reader.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { EnvironmentScope } from '../scopes.ts';
import type { Store } from '../store.ts';
import { type Claim, type ServedClaims, unpackServed } from './claim-records.ts';
import { partitionOf } from './claims.ts';
import { readCompetingClaims } from './competing-claims.ts';

/** Tag of the partition of a claim field. */
export function claimTag(store: Store, scope: EnvironmentScope, field: string): string {
  return store.partitions.tag(partitionOf(store, scope, field));
}

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
  return counts.reduce((sum, count) => sum + count, 0);
}
