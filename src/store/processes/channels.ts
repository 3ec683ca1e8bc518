/**
 * Pub/sub channels by which the processes of one store find each other. What is published is neither stored nor
 * appended to a file. Channels know no databases, so their names tell one store from another.
 */
import { createHash } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import type { RedisAddress, RedisClient } from '../redis/redis-connection.ts';

const nameCharacters = 16;

export interface ProcessChannels {
  /** What processes tell of themselves. */
  readonly beats: string;
  /** What is asked of all of them. */
  readonly asks: string;
}

/** Where processes tell and ask: a client for commands, and where to connect to listen. */
export interface ProcessHost {
  readonly client: RedisClient;
  readonly address: RedisAddress;
  readonly channels: ProcessChannels;
}

/** @param secret of the store */
export function channelsOf(secret: Buffer): ProcessChannels {
  const name = createHash('sha256').update('processes').update(secret).digest('hex').slice(0, nameCharacters);
  return { beats: `millrace:${name}:beats`, asks: `millrace:${name}:asks` };
}

/** Publishes to everybody. @returns how many listen */
export async function publishToAll(client: RedisClient, channel: string, message: string): Promise<number> {
  const here = await client.publish(channel, message);
  if (!(client instanceof Cluster)) return here;
  // A node of a cluster counts its own listeners alone. One that is gone has none.
  const counts = await Promise.all(client.nodes('all').map((node) => listenersAt(node, channel)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function listenersAt(node: Redis, channel: string): Promise<number> {
  try {
    const [, count] = (await node.pubsub('NUMSUB', channel)) as [channel: string, count: number];
    return Number(count);
  } catch {
    return 0;
  }
}
