/** The open store: client, partitions, and the facts that are fixed when a store is first used. */
import { Redis } from 'ioredis';
import { codeOf } from '../lib/message-text.ts';
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
import { StoreUnavailableError, storeError } from './redis/redis-errors.ts';
import { confirmationOf, type Replication, replicationOf, surviving } from './redis/replication.ts';
import { checkServers, UnfitRedisError } from './redis/server-state.ts';
import {
  checkSameStore,
  fixFacts,
  keepsEverything,
  PartitionCountError,
  StoreFormatError,
} from './store-facts.ts';

export interface StoreOptions extends RedisConnectionOptions {
  readonly partitionCount: number;
  /** Number of replicas (of each master) that must have acknowledged writes; absent: none is required. */
  readonly confirmReplicas?: number;
  /** How long to wait for replicas; absent: the documented default. */
  readonly replicaWaitMs?: number;
  /** How long opening may take; absent: any time. */
  readonly openTimeoutMs?: number;
}

/** A Redis: a client for nonblocking commands, and the address for connections with blocking commands. */
export interface RedisHost {
  readonly client: RedisClient;
  readonly address: RedisAddress;
  /** True for a single Redis that may lose its last acknowledged writes in a restart. Then readers must read again. */
  readonly mayForget?: boolean;
}

export class Store implements RedisHost {
  readonly #options: StoreOptions;
  /** For frequent reads. */
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
    /** 32 random bytes from the first use of the store; signs tokens that clients send back. */
    readonly secret: Buffer,
    /** Confirms writes that a failover of a cluster must not lose. */
    readonly replication: Replication,
    /** Confirms writes before clients get a response, so that neither a failover nor the promotion of a replica loses them. */
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

  /** From the options; null: commands wait until Redis is back. */
  get commandTimeoutMs(): number | null {
    return this.#options.commandTimeoutMs ?? null;
  }

  /** From the options. */
  get confirmReplicas(): number {
    return this.#options.confirmReplicas ?? 0;
  }

  /** For reads of large values. With a single Redis they have a separate connection, so that they do not delay other reads. */
  get large(): FieldReader {
    if (this.#large !== null) return this.#large;
    this.#largeClient = this.address.kind === 'single' ? connect(this.#options) : this.client;
    this.#large = new FieldReader(this.#largeClient);
    return this.#large;
  }

  /**
   * Connects, and fixes the partition count at first use.
   * @throws PartitionCountError if the store has another number of partitions; StoreFormatError; UnfitRedisError;
   * StoreUnavailableError
   */
  static async open(options: StoreOptions): Promise<Store> {
    const client = connect(options);
    const replication = replicationOf(client, options.replicaWaitMs);
    const failure = lastFailure(client);
    try {
      return await withinTime(Store.#openWith(client, replication, options), options.openTimeoutMs);
    } catch (error) {
      replication.close();
      disconnect(client);
      const reason = isSilence(error) ? failure() : null;
      // For several addresses, only the code is known.
      if (reason !== null) throw new StoreUnavailableError(`Redis: ${reason.message || codeOf(reason)}`);
      throw isMismatch(error) ? error : storeError(error);
    }
  }

  static async #openWith(
    client: RedisClient,
    replication: Replication,
    options: StoreOptions,
  ): Promise<Store> {
    // A cluster client reads the slots with its first command.
    await client.exists(keys.layout);
    await checkServers(client, options.address.kind === 'single' ? 'REDIS_URL' : 'REDIS_CLUSTER');
    const [count, secret] = await surviving(replication, [platformTag], () =>
      fixFacts(client, options.partitionCount),
    );
    if (Number(count) !== options.partitionCount) {
      throw new PartitionCountError(
        `PARTITIONS is ${options.partitionCount}, but this store was first used with ${Number(count)}; ` +
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
  }

  /**
   * @throws StoreFormatError if a newer version has upgraded the store, or it has lost its data; what the client throws
   */
  async checkUnchanged(): Promise<void> {
    await checkSameStore(this.client, this.secret);
  }

  async close(): Promise<void> {
    this.registry.close();
    this.replication.close();
    this.acknowledgements.close();
    await Promise.all([...new Set([this.client, this.#largeClient ?? this.client])].map(leave));
  }
}

/** True if the store exists but this process must not use it. */
export function isMismatch(
  error: unknown,
): error is PartitionCountError | StoreFormatError | UnfitRedisError {
  return (
    error instanceof PartitionCountError ||
    error instanceof StoreFormatError ||
    error instanceof UnfitRedisError
  );
}

/** Watches the connection of a client. @returns the last error; null if there was none */
function lastFailure(client: RedisClient): () => Error | null {
  let last: Error | null = null;
  // Clusters report their nodes separately.
  for (const event of ['error', 'node error']) {
    client.on(event, (error: Error & { readonly lastNodeError?: Error }) => {
      last = error.lastNodeError ?? error;
    });
  }
  return () => last;
}

/** True for an error that does not say why Redis did not respond. */
function isSilence(error: unknown): boolean {
  return (
    error instanceof TimeoutError || (error instanceof Error && error.name === 'MaxRetriesPerRequestError')
  );
}

/** The store did not open in time. */
class TimeoutError extends StoreUnavailableError {}

/** Rejects after a time limit, if there is one. @throws TimeoutError */
async function withinTime<T>(promise: Promise<T>, timeoutMs: number | undefined): Promise<T> {
  if (timeoutMs === undefined) return await promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeoutError(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function leave(client: RedisClient): Promise<void> {
  // Without a connection, `quit` would wait for one.
  if (client.status !== 'ready') disconnect(client);
  else await client.quit().catch(() => disconnect(client));
}

/** As `Store.open`. */
export function openStore(options: StoreOptions): Promise<Store> {
  return Store.open(options);
}
