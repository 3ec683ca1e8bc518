/** The open store: one client, the partitions, and the facts that are fixed when a store is first used. */
import { randomBytes } from 'node:crypto';
import {
  type ConnectionOptions,
  connect,
  type RedisAddress,
  type RedisClient,
  storeError,
} from './connection.ts';
import { FieldReader } from './field-reader.ts';
import { keys, Partitions, platformTag } from './keys.ts';
import { type Replication, replicationOf, surviving } from './replication.ts';
import { defineScripts } from './script.ts';

/** The store was first used with another number of partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError';
}

export interface StoreOptions extends ConnectionOptions {
  readonly partitionCount: number;
}

export class Store {
  /** For reads that come in numbers. */
  readonly fields: FieldReader;

  private constructor(
    readonly client: RedisClient,
    readonly address: RedisAddress,
    readonly partitions: Partitions,
    /** 32 random bytes made when the store was first used; signs the tokens that clients hand back. */
    readonly secret: Buffer,
    /** What a failover must not take back. */
    readonly replication: Replication,
  ) {
    this.fields = new FieldReader(client);
  }

  /**
   * Connects and fixes the partition count at first use.
   * @throws PartitionCountError when the store has another number of partitions; StoreUnavailableError
   */
  static async open(options: StoreOptions): Promise<Store> {
    const client = connect(options);
    defineScripts(client);
    const replication = replicationOf(client);
    try {
      // A cluster's client knows who serves what once it has done something.
      await client.exists(keys.layout);
      const [count, secret] = await surviving(replication, [platformTag], async () => {
        await client.hsetnx(keys.layout, 'partitions', options.partitionCount);
        await client.hsetnx(keys.layout, 'secret', randomBytes(32));
        return await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
      });
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
        replication,
      );
    } catch (error) {
      replication.close();
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
    this.replication.close();
    // Without a connection `quit` would wait for one.
    if (this.client.status !== 'ready') this.client.disconnect();
    else await this.client.quit().catch(() => this.client.disconnect());
  }
}

/** As `Store.open`. */
export function openStore(options: StoreOptions): Promise<Store> {
  return Store.open(options);
}
