/** Checks that the platform can rest on a Redis: it must be new enough, and when it is full it must refuse, not forget. */
import { Redis } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';

/** Since this version scripts can say whether they may run when Redis is full. */
const majorVersionMin = 7;

/** A Redis that would lose data or cannot run the scripts; the message says what was found and what to do. */
export class UnfitRedisError extends Error {
  override readonly name = 'UnfitRedisError';
}

/**
 * Looks at the server, in a cluster at every master. It asks only INFO, because hosted Redis often refuses
 * CONFIG. @param setting that names the server, for the message. @throws UnfitRedisError, and what the client throws
 */
export async function checkServers(client: RedisClient, setting: string): Promise<void> {
  const nodes = client instanceof Redis ? [client] : client.nodes('master');
  await Promise.all(
    nodes.map(async (node) => {
      const name = node === client ? `the Redis of ${setting}` : `${nameOfNode(node)} of ${setting}`;
      // Before version 7 one call answers one section.
      const [server, memory] = await Promise.all([node.info('server'), node.info('memory')]);
      const reason = oldVersion(server) ?? forgetfulPolicy(memory);
      if (reason !== null) throw new UnfitRedisError(`${name} ${reason}`);
    }),
  );
}

/** Why a server is too old, by its INFO; null when it is not. */
export function oldVersion(server: string): string | null {
  const valkey = factOf(server, 'valkey_version');
  const version = valkey ?? factOf(server, 'redis_version') ?? 'of an unknown version';
  if (Number.parseInt(version, 10) >= majorVersionMin) return null;
  return (
    `is ${valkey === null ? 'Redis' : 'Valkey'} ${version}, and Millrace needs Redis ${majorVersionMin}.0 or newer, or Valkey: ` +
    'upgrade it, or name another one'
  );
}

/** Why a server would forget what it has answered, by its INFO; null when it would not. */
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

/** A fact of Redis' INFO text; null when there is none of that name. */
export function factOf(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
}
