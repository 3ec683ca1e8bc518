/**
 * Messages between the processes of a store, as JSON on pub/sub channels. They are neither
 * stored nor appended to a file. Channels are shared by all databases of a Redis, so their names identify the store.
 */
import { createHash } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import type { RedisAddress, RedisClient } from '../redis/redis-connection.ts';

export type Role = 'web' | 'worker' | 'jobs';

export interface ProcessBeat {
  readonly id: string;
  readonly role: Role;
  readonly host: string;
  readonly pid: number;
  /** Version of the package that it runs; absent for versions that do not send it. */
  readonly version?: string;
  /** Configuration generation that it runs. */
  readonly generation: number;
  /** Version of the layouts and of the forms of URLs that it knows; 0 for processes that do not follow them. */
  readonly layouts: number;
  /** Partitions that it serves; empty but for workers. */
  readonly partitions: readonly number[];
  /** Reasons why it is not ready; empty when it is. */
  readonly waitingFor: readonly string[];
  /** Requests that a front answered lately, per second; absent for other processes. */
  readonly requestsPerSecond?: number;
  /** Mean latency of a small read from Redis over the last second, in ms; null without requests. */
  readonly readWaitMs?: number | null;
  /** The same by what was asked for. */
  readonly rates?: { readonly ingest: number; readonly delivery: number; readonly query: number };
  /** Where fronts can ask a worker; absent for other processes, and for workers of versions that announce something else. */
  readonly queryAddresses?: QueryAddresses;
  /** Of a worker with shard copies; absent for others. */
  readonly shardCopies?: CopiesBeat;
}

export interface QueryAddresses {
  /** A socket in the file system, for fronts of the same host; null: there is none. */
  readonly socketPath: string | null;
  /** Null: it does not listen on TCP. */
  readonly tcp: { readonly host: string; readonly port: number } | null;
}

/** Groups of partitions, as `formatGroup` writes them, whose shards a worker holds whichever workers own them. */
export interface CopiesBeat {
  /** The group that it is to hold. */
  readonly group: string;
  /** The groups that it can answer queries for now. */
  readonly ready: readonly string[];
}

/** Messages about a process. */
export type ProcessNews =
  | { readonly kind: 'beat'; readonly beat: ProcessBeat }
  | { readonly kind: 'left'; readonly id: string };

/** A request to all processes: for their heartbeats, or for their metrics on another channel. */
export type ProcessAsk =
  | { readonly kind: 'who' }
  | { readonly kind: 'metrics'; readonly replyTo: string; readonly except: string };

export interface MetricsText {
  /** Id of the process. */
  readonly process: string;
  readonly role: Role;
  /** Prometheus' text form. */
  readonly text: string;
}

const nameCharacters = 16;

export interface ProcessChannels {
  /** Messages about a process. */
  readonly beats: string;
  /** Requests to all processes. */
  readonly asks: string;
}

/** How a process reaches the others: a client to publish, and the address to subscribe. */
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
