/** Plain writes that go on when Redis is full: for data of bounded size that must be stored even then. */
import type { RedisClient } from './redis-connection.ts';
import { StoreFullError, storeError } from './redis-errors.ts';
import { Script, type ScriptArgument } from './script.ts';
import { sendRaw } from './send.ts';

const write = new Script<unknown>('redis/write', 1);

/**
 * Sends the command as it is, which costs Redis half as much as a script. A full Redis gets it by a script.
 * @param words after the key. @returns the reply as it came. @throws StoreUnavailableError
 */
export async function writeAnyway(
  client: RedisClient,
  command: 'HSET' | 'XADD',
  key: string,
  words: readonly ScriptArgument[],
): Promise<unknown> {
  try {
    return await sendRaw(client, command, [key, ...words]);
  } catch (cause) {
    const error = storeError(cause);
    if (!(error instanceof StoreFullError)) throw error;
  }
  return await write.run(client, [key], [command, ...words]);
}
