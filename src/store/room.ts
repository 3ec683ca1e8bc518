/**
 * Whether a Redis has room, by its own judgement: a full one (`maxmemory`, `noeviction`) refuses a script that does not
 * say that it may run then. How writes are told apart stands in `script.ts`.
 */
import { type RedisClient, StoreFullError } from './connection.ts';
import { keys } from './keys.ts';
import { Script } from './script.ts';
import type { Store } from './store.ts';

const room = new Script<number>('room', 1);

/** Which Redis is full. */
export interface FullRedis {
  /** Some or all of what holds the data: saves are refused. */
  readonly data: boolean;
  /** A Redis of messages alone. */
  readonly messages: boolean;
}

/** In a cluster it asks every partition's master. @throws StoreUnavailableError */
export async function findFull({ client, address, partitions, messages }: Store): Promise<FullRedis> {
  const asked = address.kind === 'single' ? [keys.layout] : [keys.layout, ...partitions.tags.map(keys.clock)];
  const [ofMessages, ...ofData] = await Promise.all([
    messages.client === client ? false : isFull(messages.client, keys.layout),
    ...asked.map((key) => isFull(client, key)),
  ]);
  return { data: ofData.includes(true), messages: ofMessages };
}

async function isFull(client: RedisClient, key: string): Promise<boolean> {
  try {
    await room.run(client, [key], []);
    return false;
  } catch (error) {
    if (error instanceof StoreFullError) return true;
    throw error;
  }
}
