/** Requests rebuilds of views and items from a partition with a stream entry, which `intake.ts` reads. */
import type { EntityRef } from '../../contract/ids.ts';
import { pack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import { OwnerScript } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { PackedInvalidation } from './intake.ts';

const invalidateScript = new OwnerScript<number>('partitions/invalidate', 3);

/** The caller for processes that own no partition; never fenced. */
export const outsideCaller: Caller = { partition: -1, epoch: 0 };

/**
 * Requests a rebuild of views and items of a partition's entities.
 * @param causes for each dependent, the entity whose change invalidates it; absent: unknown
 * @returns sequence of the invalidation
 * @throws FencedError, StoreUnavailableError
 */
export function invalidate(
  store: Store,
  caller: Caller,
  partition: number,
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[] = [],
): Promise<number> {
  const tag = store.partitions.tag(partition);
  caller.reached?.add(tag);
  return invalidateScript.run(
    store.client,
    caller,
    [keys.fence(tag), keys.clock(tag), keys.stream(tag)],
    [caller.partition, caller.epoch, pack(packedInvalidation(tenant, dependents, causes))],
  );
}

function packedInvalidation(
  tenant: string,
  dependents: readonly string[],
  causes: readonly (EntityRef | null)[],
): PackedInvalidation {
  if (causes.every((cause) => cause === null)) return [tenant, [...dependents]];
  const numbers = new Map<string, number>();
  const distinct: [string, string][] = [];
  const numberOf = (cause: EntityRef | null) => {
    if (cause === null) return -1;
    const name = `${cause.sourceId}:${cause.originId}`;
    const number = numbers.get(name) ?? distinct.push([cause.sourceId, cause.originId]) - 1;
    numbers.set(name, number);
    return number;
  };
  const ofDependents = causes.map(numberOf);
  return [tenant, [...dependents], distinct, ofDependents];
}
