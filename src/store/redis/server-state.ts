/** What each Redis of the store says about itself: whether it is suitable, and its memory, replicas and append-only file. */
import type { Redis } from 'ioredis';
import { replicaSilentSeconds } from '../../contract/limits.ts';
import { sum } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import { mastersOf, type RedisClient } from './redis-connection.ts';
import { answerOf } from './redis-errors.ts';

/** Since this version, scripts can declare whether they may run when Redis is full. */
const majorVersionMin = 7;

/** The Redis would lose data or cannot run the scripts; the message states the problem and the solution. */
export class UnfitRedisError extends Error {
  override readonly name = 'UnfitRedisError';
}

/**
 * Checks the server, or every master of a cluster. Only uses INFO, because hosted Redis often refuses CONFIG.
 * @param setting the setting with the address of the server, for the message
 * @throws UnfitRedisError, and what the client throws
 */
export async function checkServers(client: RedisClient, setting: string): Promise<void> {
  await Promise.all(
    mastersOf(client).map(async (node) => {
      const name = node === client ? `the Redis of ${setting}` : `${nameOfNode(node)} of ${setting}`;
      // Before version 7, a call can only return one section.
      const [server, memory] = await Promise.all([node.info('server'), node.info('memory')]);
      const reason = oldVersion(server) ?? forgetfulPolicy(memory);
      if (reason !== null) throw new UnfitRedisError(`${name} ${reason}`);
    }),
  );
}

/** Why a server is too old, from its INFO; null if it is not. */
export function oldVersion(server: string): string | null {
  const valkey = factOf(server, 'valkey_version');
  const version = valkey ?? factOf(server, 'redis_version') ?? 'of an unknown version';
  if (Number.parseInt(version, 10) >= majorVersionMin) return null;
  return (
    `is ${valkey === null ? 'Redis' : 'Valkey'} ${version}, and Millrace needs Redis ${majorVersionMin}.0 or newer, or Valkey: ` +
    'upgrade it, or name another one'
  );
}

/** Why a server would evict acknowledged data, from its INFO; null if it would not. */
export function forgetfulPolicy(memory: string): string | null {
  const maxBytes = Number(factOf(memory, 'maxmemory') ?? 0);
  const policy = factOf(memory, 'maxmemory_policy') ?? 'noeviction';
  if (maxBytes === 0 || policy === 'noeviction') return null;
  return (
    `has a maxmemory of ${maxBytes} bytes and the maxmemory-policy ${policy}, by which it would drop data when it is full: ` +
    'give it the maxmemory-policy noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration file)'
  );
}

function nameOfNode({ options }: Redis): string {
  return `the node ${options.host}:${options.port}`;
}

interface Connected {
  readonly client: RedisClient;
}

export interface ServerState extends RedisMemory {
  /** Number of working replicas; in a cluster, of the master with the fewest. */
  readonly replicas: number;
  /** False after a failed write to the append-only file. Then Redis refuses all writes. */
  readonly canWriteFile: boolean;
}

/** State of a single Redis, or of all masters of a cluster together. @throws StoreUnavailableError */
export async function readServerState({ client }: Connected): Promise<ServerState> {
  const nodes = mastersOf(client);
  const [memory, replication, persistence] = await Promise.all([
    readMemory({ client }),
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
export async function servesReads({ client }: Connected): Promise<boolean> {
  try {
    await Promise.any(mastersOf(client).map((node) => node.exists(keys.layout).catch(isMoved)));
    return true;
  } catch {
    return false;
  }
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
export async function readMemory({ client }: Connected): Promise<RedisMemory> {
  const infos = await answerOf(Promise.all(mastersOf(client).map((node) => node.info('memory'))));
  const limits = infos.map((info) => Number(factOf(info, 'maxmemory') ?? 0));
  return {
    usedBytes: sum(infos.map((info) => Number(factOf(info, 'used_memory') ?? 0))),
    maxBytes: limits.includes(0) ? null : sum(limits),
  };
}

/** How long Redis has been running, by its clock; in a cluster, the master that started last. @throws StoreUnavailableError */
export async function readUptimeSeconds({ client }: Connected): Promise<number> {
  const infos = await answerOf(Promise.all(mastersOf(client).map((node) => node.info('server'))));
  return Math.min(...infos.map((info) => Number(factOf(info, 'uptime_in_seconds') ?? 0)));
}

/** A field of Redis' INFO text; null if missing. */
function factOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}
