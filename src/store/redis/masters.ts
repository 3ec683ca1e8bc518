/**
 * The masters that confirm writes (`replication.ts`): those of a cluster, or a single Redis with replicas. Each has a separate
 * connection for that, because `WAIT` blocks all later commands.
 */
import type { Cluster, Redis } from 'ioredis';
import { keys, platformTag } from '../keys.ts';
import { connectOnce, connectToNode, nodeOf, type SingleAddress } from './redis-connection.ts';
import { StoreUnavailableError } from './redis-errors.ts';
import { Script } from './script.ts';

export interface Masters {
  /** Number of replicas that must have a write. */
  readonly replicas: number;
  /** Which of the written tags need confirmation. */
  toConfirm(tags: readonly string[]): readonly string[];
  /** Name of the master of a tag's keys; null while no master serves it. */
  nameOf(tag: string): string | null;
  /** A connection that does not reconnect. */
  connect(name: string): Redis;
  /** Whether a master may continue without replicas, because none could be promoted. */
  isLone(client: Redis): Promise<boolean>;
  /** Called when a master was replaced or is gone. */
  onMoved(): void;
}

export class ClusterMasters implements Masters {
  /**
   * @param replicas number of replicas of each master that must have a write
   * @param mayBeLone whether a master continues without replicas after the cluster has marked all of them as failed
   */
  constructor(
    private readonly cluster: Cluster,
    readonly replicas = 1,
    private readonly mayBeLone = true,
  ) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags;
  }

  nameOf(tag: string): string | null {
    return nodeOf(this.cluster, keys.confirmed(tag));
  }

  connect(name: string): Redis {
    return connectToNode(name);
  }

  /** True if the cluster has marked all replicas of the master as failed, as after a failover. */
  async isLone(client: Redis): Promise<boolean> {
    if (!this.mayBeLone) return false;
    const id = (await client.cluster('MYID')) as string;
    const replicas = (await client.cluster('REPLICAS', id)) as string[];
    return replicas.every((line) => (line.split(' ')[2] ?? '').split(',').includes('fail'));
  }

  onMoved(): void {
    this.cluster.refreshSlotsCache(() => {});
  }
}

/** A single Redis. All its writes are in one log, so one confirmation covers them all. */
export class OneMaster implements Masters {
  constructor(
    private readonly address: SingleAddress,
    readonly replicas: number,
  ) {}

  toConfirm(tags: readonly string[]): readonly string[] {
    return tags.length === 0 ? [] : [platformTag];
  }

  nameOf(): string {
    return this.address.url;
  }

  connect(): Redis {
    return connectOnce(this.address);
  }

  /** Which replica may be promoted is unknown here, so wait even for replicas that are gone. */
  async isLone(): Promise<boolean> {
    return false;
  }

  onMoved(): void {}
}

const confirmScript = new Script<Buffer>('redis/confirm', 1, ['history']);
/** How long to assume that a master has no replica. */
const loneMs = 1_000;
/** A node that does not reply this long after the wait for replicas counts as dead. */
const roundReserveMs = 1_000;

/** Too few replicas confirmed in time, although one could be promoted. */
export class NoReplicaError extends StoreUnavailableError {
  /** Replicas that did not confirm. */
  readonly missing: number;

  constructor(confirmations: number, replicas: number, waitMs: number) {
    super(`${confirmations} of ${replicas} replicas confirmed within ${waitMs} ms`);
    this.missing = replicas - confirmations;
  }
}

interface Waiting {
  readonly tag: string;
  readonly resolve: (history: string) => void;
  readonly reject: (error: unknown) => void;
}

export class ConfirmingMaster {
  readonly #client: Redis;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Do not wait for replicas before this time, in ms of `performance.now()`. */
  #loneUntilMs = 0;

  /** @param onEnd called when the master no longer responds */
  constructor(
    name: string,
    private readonly masters: Masters,
    private readonly waitMs: number,
    private readonly onEnd: () => void,
  ) {
    this.#client = masters.connect(name);
  }

  /**
   * Returns the history of a tag of this master, once everything done before the call is on the replicas.
   * @throws StoreUnavailableError
   */
  confirmed(tag: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tag, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  close(): void {
    this.#client.disconnect();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const round = this.#waiting;
      this.#waiting = [];
      await this.#confirm(round);
    }
    this.#isRunning = false;
  }

  async #confirm(round: readonly Waiting[]): Promise<void> {
    const overdue = setTimeout(() => this.close(), this.waitMs + roundReserveMs);
    const { replicas } = this.masters;
    try {
      const tags = [...new Set(round.map(({ tag }) => tag))];
      const isLone = performance.now() < this.#loneUntilMs;
      // Sent together and in this order, so that `WAIT` covers all scripts.
      const histories = tags.map((tag) => confirmScript.run(this.#client, [keys.confirmed(tag)], []));
      const confirming = isLone ? replicas : this.#client.wait(replicas, this.waitMs);
      const settled = await Promise.allSettled([confirming, ...histories]);
      const confirmations = await confirming;
      if (confirmations < replicas) await this.#expectNoReplica(confirmations);
      const found = new Map(tags.map((tag, index) => [tag, settled[index + 1]]));
      for (const waiting of round) this.#settle(waiting, found.get(waiting.tag));
    } catch (error) {
      if (!(error instanceof NoReplicaError)) this.#end();
      for (const { reject } of round) reject(unavailable(error));
    } finally {
      clearTimeout(overdue);
    }
  }

  #settle({ resolve, reject }: Waiting, result: PromiseSettledResult<unknown> | undefined): void {
    if (result?.status === 'fulfilled') {
      resolve(String(result.value));
      return;
    }
    this.masters.onMoved();
    reject(unavailable(result?.reason));
  }

  /** @throws NoReplicaError if a replica without the writes could be promoted */
  async #expectNoReplica(confirmations: number): Promise<void> {
    if (!(await this.masters.isLone(this.#client))) {
      throw new NoReplicaError(confirmations, this.masters.replicas, this.waitMs);
    }
    this.#loneUntilMs = performance.now() + loneMs;
  }

  #end(): void {
    this.close();
    this.onEnd();
  }
}

/** A node that is no longer a master refuses to write and to wait. That is not a bug of ours. */
function unavailable(error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  return new StoreUnavailableError(`Redis: ${error instanceof Error ? error.message : 'not confirmed'}`);
}
