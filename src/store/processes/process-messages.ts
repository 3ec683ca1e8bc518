/**
 * Messages between the processes of a store, as JSON on pub/sub channels. They are neither
 * stored nor appended to a file. Channels are shared by all databases of a Redis, so their names identify the store.
 */

import { createHash } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { sum } from '../../lib/lists.ts';
import type { RedisAddress, RedisClient } from '../redis/redis-connection.ts';

export type Role = 'web' | 'worker' | 'jobs';

export interface ProcessBeat {
  readonly id: string;
  readonly role: Role;
  readonly host: string;
  readonly pid: number;
  /** Version of its package; absent for versions that do not send it. */
  readonly version?: string;
  /** Its configuration generation. */
  readonly generation: number;
  /** Version of its layouts and URL forms; 0 for processes that do not follow them. */
  readonly layouts: number;
  /** Partitions that it serves; empty except for workers. */
  readonly partitions: readonly number[];
  /** Reasons why it is not ready; empty if it is. */
  readonly waitingFor: readonly string[];
  /** Recent requests per second of a front; absent for other processes. */
  readonly requestsPerSecond?: number;
  /** Mean latency of a small read from Redis over the last second, in ms; null without requests. */
  readonly readWaitMs?: number | null;
  /** Recent requests per second by kind. */
  readonly rates?: { readonly ingest: number; readonly delivery: number; readonly query: number };
  /** Where fronts can query a worker; absent for other processes, and for workers of versions that announce something else. */
  readonly queryAddresses?: QueryAddresses;
  /** Only for a worker with shard copies. */
  readonly shardCopies?: CopiesBeat;
}

export interface QueryAddresses {
  /** A Unix socket, for fronts on the same host; null: none. */
  readonly socketPath: string | null;
  /** Null: it does not listen on TCP. */
  readonly tcp: { readonly host: string; readonly port: number } | null;
}

/** Groups of partitions (`formatGroup`) whose shards a worker holds, even if other workers own the partitions. */
export interface CopiesBeat {
  /** The group that it should hold. */
  readonly group: string;
  /** The groups that it can currently query. */
  readonly ready: readonly string[];
}

/** Messages about a process. */
export type ProcessMessage =
  | { readonly kind: 'beat'; readonly beat: ProcessBeat }
  | { readonly kind: 'left'; readonly id: string };

/** A request to all processes: for their heartbeats, or for their metrics on another channel. */
export type ProcessRequest =
  | { readonly kind: 'who' }
  | { readonly kind: 'metrics'; readonly replyTo: string; readonly except: string };

export interface MetricsText {
  /** Id of the process. */
  readonly process: string;
  readonly role: Role;
  /** In the Prometheus text format. */
  readonly text: string;
}

const nameCharacters = 16;

export interface ProcessChannels {
  /** Messages about a process. */
  readonly beats: string;
  /** Requests to all processes. */
  readonly asks: string;
}

/** For communication with other processes: a client to publish, and the address to subscribe. */
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

/** Publishes to all processes. @returns the number of listeners */
export async function publishToAll(client: RedisClient, channel: string, message: string): Promise<number> {
  const here = await client.publish(channel, message);
  if (!(client instanceof Cluster)) return here;
  // A node of a cluster only counts its own listeners. An unavailable node has none.
  const counts = await Promise.all(client.nodes('all').map((node) => listenersAt(node, channel)));
  return sum(counts);
}

async function listenersAt(node: Redis, channel: string): Promise<number> {
  try {
    const [, count] = (await node.pubsub('NUMSUB', channel)) as [channel: string, count: number];
    return Number(count);
  } catch {
    return 0;
  }
}
