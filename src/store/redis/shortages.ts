/** What Redis lacks for taking in something new, while it serves what is there. */
import { Redis } from 'ioredis';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import type { RedisClient } from './connection.ts';
import { answerOf, StoreFullError } from './errors.ts';
import { Script } from './script.ts';

const room = new Script<number>('redis/room', 1);

export interface Shortages {
  /** Redis has reached its `maxmemory`; in a cluster, a master has. */
  readonly isFull: boolean;
  /** The Redis that passes only messages has reached its `maxmemory`. */
  readonly areMessagesFull: boolean;
  /** Replicas of the one Redis that are not connected, of those that an acknowledgement waits for. */
  readonly missingReplicas: number;
}

/** @throws StoreUnavailableError */
export async function findShortages(store: Store): Promise<Shortages> {
  const { client, address, partitions, messages } = store;
  const asked = address.kind === 'single' ? [keys.layout] : [keys.layout, ...partitions.tags.map(keys.clock)];
  const [missingReplicas, areMessagesFull, ...full] = await Promise.all([
    countMissingReplicas(store),
    messages.client === client ? false : isFull(messages.client, keys.layout),
    ...asked.map((key) => isFull(client, key)),
  ]);
  return { isFull: full.includes(true), areMessagesFull, missingReplicas };
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

async function countMissingReplicas({ client, confirmReplicas }: Store): Promise<number> {
  if (confirmReplicas === 0 || !(client instanceof Redis)) return 0;
  const connected = /connected_slaves:(\d+)/.exec(await answerOf(client.info('replication')))?.[1];
  return Math.max(0, confirmReplicas - Number(connected ?? 0));
}
