/** Where streams end, whether their last entries are still there or not. */
import type { RedisClient } from '../redis/redis-connection.ts';
import { Script } from '../redis/script.ts';

const lastIds = new Script<Buffer[]>('streams/last-ids', null);

/** Id of the last entry that was ever added to a stream; `0-0` before the first. @throws StoreUnavailableError */
export async function lastIdOf(client: RedisClient, key: string): Promise<string> {
  return String(await lastIds.run(client, [key], []));
}

/** As `lastIdOf`, by one call for all streams of one Redis that are asked for in one turn of the event loop. */
export class LastIds {
  #keys: string[] = [];
  #reply: Promise<Buffer[]> | null = null;

  constructor(private readonly client: RedisClient) {}

  /** @throws StoreUnavailableError */
  async of(key: string): Promise<string> {
    const at = this.#keys.push(key) - 1;
    this.#reply ??= new Promise((resolve) => {
      // After all that goes on in this turn, and before what the next one sends.
      process.nextTick(() => resolve(this.#send()));
    });
    return String((await this.#reply)[at]);
  }

  #send(): Promise<Buffer[]> {
    const keys = this.#keys;
    this.#keys = [];
    this.#reply = null;
    return lastIds.run(this.client, keys, []);
  }
}
