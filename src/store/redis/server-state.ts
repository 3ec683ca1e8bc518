/** The state of each Redis of the store: memory, replicas, and whether it can write its append-only file. */
import { Cluster } from 'ioredis';
import { replicaSilentSeconds } from '../../contract/limits.ts';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import { answerOf } from './redis-errors.ts';
import { factOf } from './server-check.ts';

export interface ServerState extends RedisMemory {
  /** Replicas that follow; in a cluster, of the master that has the fewest. */
  readonly replicas: number;
  /** False after a failed write to the append-only file, which refuses all further writes. */
  readonly canWriteFile: boolean;
}

/** State of the one Redis, or of all masters of a cluster together. @throws StoreUnavailableError */
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

/** A replica that hangs stays connected for a minute, but confirms nothing. One that still copies the data cannot take over. */
function followingReplicas(info: string): number {
  const lags = [...info.matchAll(replicaLine)].map(([, lag]) => Number(lag));
  return lags.filter((lag) => lag <= replicaSilentSeconds).length;
}

/**
 * True when Redis serves reads; in a cluster, when any master does. A Redis that is full, or cannot write its file, still
 * serves them.
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

/** A master that sends its client to another one is there. @throws the error when it is any other */
function isMoved(error: unknown): void {
  if (!(error instanceof Error && error.message.startsWith('MOVED'))) throw error;
}

export interface RedisMemory {
  readonly usedBytes: number;
  /** Null when a master has no limit. */
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
