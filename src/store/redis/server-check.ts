/** Checks that a Redis is suitable: it must be new enough, and must refuse writes instead of evicting data when it is full. */
import { Redis } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';

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
  const nodes = client instanceof Redis ? [client] : client.nodes('master');
  await Promise.all(
    nodes.map(async (node) => {
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

/** A field of Redis' INFO text; null if missing. */
export function factOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}
