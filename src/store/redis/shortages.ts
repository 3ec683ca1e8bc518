/** Conditions in which Redis rejects writes but still serves reads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { keys, platformTag } from '../keys.ts';
import type { Store } from '../store.ts';
import type { RedisClient } from './redis-connection.ts';
import { StoreFullError } from './redis-errors.ts';
import { Script } from './script.ts';

const room = new Script<number>('redis/room', 1);

export interface Shortages {
  /** Redis (in a cluster, any master) has reached its `maxmemory`. */
  readonly isFull: boolean;
  /** Number of replicas required by CONFIRM_REPLICAS that are gone, hang or lag; in a cluster, of all masters. */
  readonly missingReplicas: number;
}

/** @throws StoreUnavailableError */
export async function findShortages(store: Store): Promise<Shortages> {
  const { client, address, partitions } = store;
  const asked = address.kind === 'single' ? [keys.layout] : [keys.layout, ...partitions.tags.map(keys.clock)];
  const [missingReplicas, ...full] = await Promise.all([
    countMissingReplicas(store),
    ...asked.map((key) => isFull(client, key)),
  ]);
  return { isFull: full.includes(true), missingReplicas };
}

/** Redis itself decides: if it is full, it refuses scripts without the flag `allow-oom` (`script.ts`). */
async function isFull(client: RedisClient, key: string): Promise<boolean> {
  try {
    await room.run(client, [key], []);
    return false;
  } catch (error) {
    if (error instanceof StoreFullError) return true;
    throw error;
  }
}

/** A replica that takes longer counts as lagging. This also limits the time of the check. */
const lagMsMax = 2_000;

/** Checks as an acknowledgement does, because a connected replica may hang or lag. */
async function countMissingReplicas({
  acknowledgements,
  confirmReplicas,
  partitions,
}: Store): Promise<number> {
  if (confirmReplicas === 0) return 0;
  const missing = acknowledgements.missing([platformTag, ...partitions.tags]);
  return await Promise.race([missing, sleep(lagMsMax, confirmReplicas, { ref: false })]);
}
