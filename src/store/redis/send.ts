/**
 * How commands go to Redis: scripts, reads in numbers and raw commands are all sent by `sendCommand`. Commands that are
 * neither many nor large may use the methods of the client library.
 */
import { Command, Redis } from 'ioredis';
import type { RedisClient } from './redis-connection.ts';
import { StoreUnavailableError } from './redis-errors.ts';

/** Joins what is sent in one turn of the event loop into one write. Each write costs a system call, and wakes Redis. */
function gatherWrites(client: RedisClient): void {
  if (!(client instanceof Redis)) return;
  // There is no stream before the first connection.
  const stream = client.stream as Redis['stream'] | undefined;
  if (stream === undefined || gathering.has(stream)) return;
  gathering.add(stream);
  stream.cork();
  process.nextTick(() => {
    gathering.delete(stream);
    stream.uncork();
  });
}

/** Streams that are written to when the turn is over. */
const gathering = new WeakSet<Redis['stream']>();

/**
 * Sends one command and gives its reply as it came: Buffers, numbers, and lists of them, where the client's own
 * methods would make objects. (Its `call` loses the command's name when it pipelines by itself.)
 */
export function sendRaw(
  client: RedisClient,
  name: string,
  commandArguments: readonly (string | number | Buffer)[],
): Promise<unknown> {
  // Reply transformers go by the lower-case name.
  return sendCommand(client, new Command(name.toUpperCase(), [...commandArguments], { replyEncoding: null }));
}

/** Sends a command in one write with all others of this turn. */
export function sendCommand(client: RedisClient, command: Command): Promise<unknown> {
  gatherWrites(client);
  return client.sendCommand(command) as Promise<unknown>;
}

/**
 * Values of a hash's fields, null where there is none. A delivered page takes a third more processor time with the client's
 * own `hmgetBuffer` and its automatic pipelines (`npm run bench -- delivery-cold`).
 */
export async function readFields(
  client: RedisClient,
  key: string,
  fields: readonly string[],
): Promise<(Buffer | null)[]> {
  const values = await sendRaw(client, 'HMGET', [key, ...fields]);
  if (Array.isArray(values) && values.length === fields.length) return values;
  // It is the reply to another command, and so are all that follow it on this connection.
  client.disconnect(true);
  throw new StoreUnavailableError('Redis: a reply of another form than that of its command');
}
