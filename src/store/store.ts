/** The open store: one client, the partitions, and the facts that are fixed when a store is first used. */
import { Redis } from 'ioredis';
import { keys, Partitions, platformTag } from './keys.ts';
import { channelsOf, type ProcessChannels } from './processes/process-messages.ts';
import { Registry } from './processes/registry.ts';
import { FieldReader } from './redis/field-reader.ts';
import {
  connect,
  disconnect,
  type RedisAddress,
  type RedisClient,
  type RedisConnectionOptions,
} from './redis/redis-connection.ts';
import { answerOf, storeError } from './redis/redis-errors.ts';
import { confirmationOf, type Replication, replicationOf, surviving } from './redis/replication.ts';
import { checkServers, UnfitRedisError } from './redis/server-check.ts';
import {
  checkNotNewer,
  fixFacts,
  keepsEverything,
  PartitionCountError,
  StoreFormatError,
} from './store-facts.ts';

export interface StoreOptions extends RedisConnectionOptions {
  readonly partitionCount: number;
  /** Replicas of the one Redis, or of each master, that must have what is acknowledged; absent: none is demanded. */
  readonly confirmReplicas?: number;
  /** How long a replica is waited for; absent: the documented default. */
  readonly replicaWaitMs?: number;
}

/** A Redis: a client for commands that answer immediately, and where to connect for those that do not. */
export interface RedisHost {
  readonly client: RedisClient;
  readonly address: RedisAddress;
  /** True for one Redis that can come back without the last of what it has answered. Anyone who has read more must read again. */
  readonly mayForget?: boolean;
}

export class Store implements RedisHost {
  readonly #options: StoreOptions;
  /** For reads that come in numbers. */
  readonly fields: FieldReader;
  /** Channels for messages between processes. */
  readonly channels: ProcessChannels;
  /** The other processes of the store. */
  readonly registry: Registry;
  #largeClient: RedisClient | null = null;
  #large: FieldReader | null = null;

  private constructor(
    readonly client: RedisClient,
    options: StoreOptions,
    readonly partitions: Partitions,
    /** 32 random bytes made when the store was first used; signs the tokens that clients hand back. */
    readonly secret: Buffer,
    /** Confirms writes that a failover of a cluster must not lose. */
    readonly replication: Replication,
    /** Confirms writes before clients get a response: neither a failover nor the promotion of a replica may lose them. */
    readonly acknowledgements: Replication,
    readonly mayForget: boolean,
  ) {
    this.fields = new FieldReader(client);
    this.#options = options;
    this.channels = channelsOf(secret);
    this.registry = new Registry({ client, address: options.address, channels: this.channels });
  }

  get address(): RedisAddress {
    return this.#options.address;
  }

  /** As in the options; null: commands wait for Redis to come back. */
  get commandTimeoutMs(): number | null {
    return this.#options.commandTimeoutMs ?? null;
  }

  /** As in the options. */
  get confirmReplicas(): number {
    return this.#options.confirmReplicas ?? 0;
  }

  /** For reads of large values, which on one Redis have a connection of their own, so that other reads do not wait for them. */
  get large(): FieldReader {
    if (this.#large !== null) return this.#large;
    this.#largeClient = this.address.kind === 'single' ? connect(this.#options) : this.client;
    this.#large = new FieldReader(this.#largeClient);
    return this.#large;
  }

  /**
   * Connects and fixes the partition count at first use.
   * @throws PartitionCountError when the store has another number of partitions; StoreFormatError; UnfitRedisError;
   * StoreUnavailableError
   */
  static async open(options: StoreOptions): Promise<Store> {
    const client = connect(options);
    const replication = replicationOf(client, options.replicaWaitMs);
    try {
      // The client of a cluster learns the slots with its first command.
      await client.exists(keys.layout);
      await checkServers(client, options.address.kind === 'single' ? 'REDIS_URL' : 'REDIS_CLUSTER');
      const [count, secret] = await surviving(replication, [platformTag], () =>
        fixFacts(client, options.partitionCount),
      );
      if (Number(count) !== options.partitionCount) {
        throw new PartitionCountError(
          `PARTITIONS is ${options.partitionCount}, but this store has ${Number(count)} partitions since its first use; ` +
            `set PARTITIONS=${Number(count)} or use an empty store`,
        );
      }
      return new Store(
        client,
        options,
        new Partitions(options.partitionCount),
        secret ?? Buffer.alloc(0),
        replication,
        confirmationOf(
          { client, address: options.address },
          replication,
          options.confirmReplicas ?? 0,
          options.replicaWaitMs,
        ),
        client instanceof Redis && !(await keepsEverything(client, options.confirmReplicas ?? 0)),
      );
    } catch (error) {
      replication.close();
      client.disconnect();
      throw isMismatch(error) ? error : storeError(error);
    }
  }

  /** @throws StoreFormatError when a newer version has taken the store; what the client throws */
  async checkNotNewer(): Promise<void> {
    await checkNotNewer(this.client);
  }

  async ping(): Promise<void> {
    await answerOf(this.client.ping());
  }

  async close(): Promise<void> {
    this.registry.close();
    this.replication.close();
    this.acknowledgements.close();
    await Promise.all([...new Set([this.client, this.#largeClient ?? this.client])].map(leave));
  }
}

/** The store is there, but not for this process. */
export function isMismatch(
  error: unknown,
): error is PartitionCountError | StoreFormatError | UnfitRedisError {
  return (
    error instanceof PartitionCountError ||
    error instanceof StoreFormatError ||
    error instanceof UnfitRedisError
  );
}

async function leave(client: RedisClient): Promise<void> {
  // Without a connection `quit` would wait for one.
  if (client.status !== 'ready') disconnect(client);
  else await client.quit().catch(() => disconnect(client));
}

/** As `Store.open`. */
export function openStore(options: StoreOptions): Promise<Store> {
  return Store.open(options);
}
