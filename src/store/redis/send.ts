/**
 * Sends commands to Redis. Scripts, frequent reads and raw commands use `sendCommand`. Commands that are neither frequent nor
 * large may use the methods of the client library.
 */
import { Command, Redis } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';
import { StoreUnavailableError } from './redis-errors.ts';

/**
 * Joins everything sent in one turn of the event loop into one write, because each write costs a system call and wakes Redis.
 */
function gatherWrites(client: RedisClient): void {
  if (!(client instanceof Redis)) return;
  // Undefined before the first connection.
  const stream = client.stream as Redis['stream'] | undefined;
  if (stream === undefined || gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  process.nextTick(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}

/** Streams that are flushed at the end of the turn. */
const gathering = new WeakSet<Redis['stream']>();

/**
 * Sends one command and returns the unconverted reply: Buffers, numbers, and lists of them, where the client's own methods
 * would create objects. (Its `call` loses the command name with automatic pipelining.)
 */
export function sendRaw(
  client: RedisClient,
  name: string,
  commandArguments: readonly (string | number | Buffer)[],
): Promise<unknown> {
  // An upper-case name bypasses the reply transformers.
  return sendCommand(client, new Command(name.toUpperCase(), [...commandArguments], { replyEncoding: null }));
}

/** Sends a command in the same write as all others of this turn. */
export function sendCommand(client: RedisClient, command: Command): Promise<unknown> {
  gatherWrites(client);
  return client.sendCommand(command) as Promise<unknown>;
}

/**
 * Values of fields of a hash; null for missing ones. With the client's own `hmgetBuffer` and automatic pipelines, delivering a
 * page takes a third more processor time (`npm run bench -- delivery-cold`).
 */
export async function readFields(
  client: RedisClient,
  key: string,
  fields: readonly string[],
): Promise<(Buffer | null)[]> {
  const values = await sendRaw(client, 'HMGET', [key, ...fields]);
  if (Array.isArray(values) && values.length === fields.length) return values;
  // This is the reply to another command, and so are all later ones on this connection.
  client.disconnect(true);
  throw new StoreUnavailableError('Redis: a reply of another form than that of its command');
}
