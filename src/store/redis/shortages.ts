/** Conditions in which Redis rejects writes but still serves reads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { keys, platformTag } from '../keys.ts';
import type { Store } from '../store.ts';
import type { RedisClient } from './redis-connection.ts';
import { StoreFullError } from './redis-errors.ts';
import { Script } from './script.ts';

const room = new Script<number>('redis/room', 1);

export interface Shortages {
  /** Redis has reached its `maxmemory`; in a cluster, a master has. */
  readonly isFull: boolean;
  /** Replicas that are gone, hang or lag, of those that CONFIRM_REPLICAS demands; in a cluster, those of all masters. */
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

/** Redis itself decides: a full one refuses a script without the flag `allow-oom` (`script.ts`). */
async function isFull(client: RedisClient, key: string): Promise<boolean> {
  try {
    await room.run(client, [key], []);
    return false;
  } catch (error) {
    if (error instanceof StoreFullError) return true;
    throw error;
  }
}

/** A replica that takes longer lags. So long the answer may take. */
const lagMsMax = 2_000;

/** The same question that an acknowledgement asks: a replica that is connected may hang or lag. */
async function countMissingReplicas({
  acknowledgements,
  confirmReplicas,
  partitions,
}: Store): Promise<number> {
  if (confirmReplicas === 0) return 0;
  const missing = acknowledgements.missing([platformTag, ...partitions.tags]);
  return await Promise.race([missing, sleep(lagMsMax, confirmReplicas, { ref: false })]);
}
