/** The open store: one client, the partitions, and the facts that are fixed when a store is first used. */
import { randomBytes } from 'node:crypto';
import {
  type ConnectionOptions,
  connect,
  type RedisAddress,
  type RedisClient,
  storeError,
} from './connection.ts';
import { keys, Partitions } from './keys.ts';
import { defineScripts } from './script.ts';

/** The store was first used with another number of partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError';
}

export interface StoreOptions extends ConnectionOptions {
  readonly partitionCount: number;
}

export class Store {
  private constructor(
    readonly client: RedisClient,
    readonly address: RedisAddress,
    readonly partitions: Partitions,
    /** 32 random bytes made when the store was first used; signs the tokens that clients hand back. */
    readonly secret: Buffer,
  ) {}

  /**
   * Connects and fixes the partition count at first use.
   * @throws PartitionCountError when the store has another number of partitions; StoreUnavailableError
   */
  static async open(options: StoreOptions): Promise<Store> {
    const client = connect(options);
    defineScripts(client);
    try {
      await client.hsetnx(keys.layout, 'partitions', options.partitionCount);
      await client.hsetnx(keys.layout, 'secret', randomBytes(32));
      const [count, secret] = await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
      if (Number(count) !== options.partitionCount) {
        throw new PartitionCountError(
          `PARTITIONS is ${options.partitionCount}, but this store has ${Number(count)} partitions since its first use; ` +
            `set PARTITIONS=${Number(count)} or use an empty store`,
        );
      }
      return new Store(
        client,
        options.address,
        new Partitions(options.partitionCount),
        secret ?? Buffer.alloc(0),
      );
    } catch (error) {
      client.disconnect();
      throw error instanceof PartitionCountError ? error : storeError(error);
    }
  }

  async ping(): Promise<void> {
    try {
      await this.client.ping();
    } catch (error) {
      throw storeError(error);
    }
  }

  async close(): Promise<void> {
    // Without a connection `quit` would wait for one.
    if (this.client.status !== 'ready') this.client.disconnect();
    else await this.client.quit().catch(() => this.client.disconnect());
  }
}

/** As `Store.open`. */
export function openStore(options: StoreOptions): Promise<Store> {
  return Store.open(options);
}
