/** The state of each Redis of the store: memory, replicas, and whether it can write its append-only file. */
import { Cluster } from 'ioredis';
import { replicaSilentSeconds } from '../../contract/limits.ts';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import { answerOf } from './redis-errors.ts';
import { factOf } from './server-check.ts';

export interface ServerState extends RedisMemory {
  /** Number of working replicas; in a cluster, of the master with the fewest. */
  readonly replicas: number;
  /** False after a failed write to the append-only file. Then Redis refuses all writes. */
  readonly canWriteFile: boolean;
}

/** State of a single Redis, or of all masters of a cluster together. @throws StoreUnavailableError */
export async function readServerState(store: Pick<Store, 'client'>): Promise<ServerState> {
  const nodes = mastersOf(store);
  const [memory, replication, persistence] = await Promise.all([
    readMemory(store),
    answerOf(Promise.all(nodes.map((node) => node.info('replication')))),
    answerOf(Promise.all(nodes.map((node) => node.info('persistence')))),
  ]);
  return {
    ...memory,
    replicas: Math.min(...replication.map(followingReplicas)),
    canWriteFile: persistence.every((info) => factOf(info, 'aof_last_write_status') !== 'err'),
  };
}

const replicaLine = /^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm;

/**
 * A replica that hangs stays connected for a minute but confirms nothing. One that is still copying the data cannot be
 * promoted.
 */
function followingReplicas(info: string): number {
  const lags = [...info.matchAll(replicaLine)].map(([, lag]) => Number(lag));
  return lags.filter((lag) => lag <= replicaSilentSeconds).length;
}

/**
 * True if Redis serves reads; in a cluster, if any master does. A Redis that is full or cannot write its file still serves
 * reads.
 */
export async function servesReads(store: Pick<Store, 'client'>): Promise<boolean> {
  try {
    await Promise.any(mastersOf(store).map((node) => node.exists(keys.layout).catch(isMoved)));
    return true;
  } catch {
    return false;
  }
}

function mastersOf({ client }: Pick<Store, 'client'>) {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** A master that redirects the client is available. @throws any other error */
function isMoved(error: unknown): void {
  if (!(error instanceof Error && error.message.startsWith('MOVED'))) throw error;
}

export interface RedisMemory {
  readonly usedBytes: number;
  /** Null if a master has no limit. */
  readonly maxBytes: number | null;
}

/** @throws StoreUnavailableError */
export async function readMemory({ client }: Pick<Store, 'client'>): Promise<RedisMemory> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const infos = await answerOf(Promise.all(nodes.map((node) => node.info('memory'))));
  const limits = infos.map((info) => Number(factOf(info, 'maxmemory') ?? 0));
  return {
    usedBytes: sum(infos.map((info) => Number(factOf(info, 'used_memory') ?? 0))),
    maxBytes: limits.includes(0) ? null : sum(limits),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
