/**
 * What a failover of Redis Cluster must not take back. A master answers before its replica has a write; when the
 * replica takes its place, the last of what was answered may be gone, in all partitions of that master and in no other.
 * So whatever something else rests on (an acknowledgement, an effect in another partition) is confirmed first.
 *
 * A confirmation is a write of its own with `WAIT` behind it, which covers all that the master did before; calls that
 * come meanwhile share the next one. It says in which history the master is (every failover begins another), so what was
 * done between two looks at the same history is in it. One Redis has no replicas, and here nothing to do.
 */
import { Cluster, type Redis } from 'ioredis';
import { replicaWaitMs } from '../contract/limits.ts';
import { connectToNode, nodeOf, type RedisClient, StoreUnavailableError, storeError } from './connection.ts';
import { keys } from './keys.ts';
import { historyLua, Script } from './script.ts';

const confirmScript = new Script<Buffer>('confirm', 1, historyLua);
/** How long it is believed that a master has no replica. */
const loneMs = 1_000;
/** A node that does not answer this long after a replica should have is as good as dead. */
const roundReserveMs = 1_000;
const movedRetryMs = 50;
const attemptsMax = 3;

/** Tag -> history that its keys are in. */
export type Histories = ReadonlyMap<string, string>;

export interface Replication {
  /** Histories of now or before; what is done after the call can be confirmed by them. @throws StoreUnavailableError */
  observe(tags: readonly string[]): Promise<Histories>;
  /**
   * Waits until a replica has everything that was done under these tags before the call.
   * @returns false when a failover came in between: what was done since the histories were observed may be lost
   * @throws StoreUnavailableError when no replica answers in time
   */
  confirm(histories: Histories): Promise<boolean>;
  close(): void;
}

/** @param waitMs how long a replica is waited for */
export function replicationOf(client: RedisClient, waitMs = replicaWaitMs): Replication {
  return client instanceof Cluster ? new ClusterReplication(client, waitMs) : alone;
}

const alone: Replication = {
  observe: async () => new Map(),
  confirm: async () => true,
  close: () => {},
};

/**
 * Does something idempotent until it is sure to survive a failover.
 * @throws StoreUnavailableError; then it may have happened or not
 */
export async function surviving<T>(
  replication: Replication,
  tags: readonly string[],
  act: (histories: Histories) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const histories = await replication.observe(tags);
    const done = await act(histories);
    if (await replication.confirm(histories)) return done;
  }
  throw new StoreUnavailableError('one failover follows the other');
}

interface Waiting {
  readonly tag: string;
  readonly resolve: (history: string) => void;
  readonly reject: (error: unknown) => void;
}

class ClusterReplication implements Replication {
  readonly #known = new Map<string, string>();
  readonly #shards = new Map<string, Shard>();
  #closed = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly waitMs: number,
  ) {}

  async observe(tags: readonly string[]): Promise<Histories> {
    const observed = await Promise.all(
      tags.map(async (tag) => [tag, this.#known.get(tag) ?? (await this.#confirmed(tag))] as const),
    );
    return new Map(observed);
  }

  async confirm(histories: Histories): Promise<boolean> {
    const found = await Promise.all([...histories.keys()].map((tag) => this.#confirmed(tag)));
    return [...histories.values()].every((history, index) => history === found[index]);
  }

  close(): void {
    this.#closed = true;
    for (const shard of this.#shards.values()) shard.close();
    this.#shards.clear();
  }

  /** Tries again while nobody can say who serves the tag, for as long as a replica would be waited for. */
  async #confirmed(tag: string): Promise<string> {
    const endsMs = performance.now() + this.waitMs;
    for (;;) {
      try {
        const history = await this.#shardOf(tag).confirmed(tag);
        this.#known.set(tag, history);
        return history;
      } catch (error) {
        if (this.#closed || error instanceof NoReplicaError || performance.now() > endsMs) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, movedRetryMs));
    }
  }

  #shardOf(tag: string): Shard {
    const node = nodeOf(this.cluster, keys.confirmed(tag));
    if (node === null || this.#closed) throw new StoreUnavailableError(`nobody serves ${tag}`);
    const known = this.#shards.get(node);
    if (known !== undefined) return known;
    const shard = new Shard(node, this.waitMs, {
      onMoved: () => this.cluster.refreshSlotsCache(() => {}),
      onEnd: () => this.#forget(node, shard),
    });
    this.#shards.set(node, shard);
    return shard;
  }

  #forget(node: string, shard: Shard): void {
    if (this.#shards.get(node) === shard) this.#shards.delete(node);
    this.cluster.refreshSlotsCache(() => {});
  }
}

class NoReplicaError extends StoreUnavailableError {}

/** One master, on a connection of its own: `WAIT` holds up whatever comes behind it. */
class Shard {
  readonly #client: Redis;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Until then no replica is waited for. */
  #loneUntilMs = 0;

  constructor(
    node: string,
    private readonly waitMs: number,
    private readonly events: {
      /** Another node serves what was asked here. */
      onMoved(): void;
      /** This one answers no more. */
      onEnd(): void;
    },
  ) {
    this.#client = connectToNode(node);
  }

  /** History of a tag whose keys are here; everything done before the call is on a replica then. */
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
    try {
      const tags = [...new Set(round.map(({ tag }) => tag))];
      const isLone = performance.now() < this.#loneUntilMs;
      // In one go, and in this order: the wait is for all of them.
      const histories = tags.map((tag) => confirmScript.run(this.#client, [keys.confirmed(tag)], []));
      const replicas = isLone ? 0 : this.#client.wait(1, this.waitMs);
      const settled = await Promise.allSettled([replicas, ...histories]);
      if (!isLone && (await replicas) < 1) await this.#expectNoReplica();
      const found = new Map(tags.map((tag, index) => [tag, settled[index + 1]]));
      for (const waiting of round) this.#settle(waiting, found.get(waiting.tag));
    } catch (error) {
      if (!(error instanceof NoReplicaError)) this.#end();
      for (const { reject } of round) reject(error instanceof NoReplicaError ? error : storeError(error));
    } finally {
      clearTimeout(overdue);
    }
  }

  #settle({ resolve, reject }: Waiting, result: PromiseSettledResult<unknown> | undefined): void {
    if (result?.status === 'fulfilled') {
      resolve(String(result.value));
      return;
    }
    this.events.onMoved();
    reject(result?.reason ?? new StoreUnavailableError('not confirmed'));
  }

  /**
   * A master whose replicas the cluster has all given up, as after a failover, goes on without one: nobody could take
   * its place, so nothing can be taken back. @throws NoReplicaError when there is one that could
   */
  async #expectNoReplica(): Promise<void> {
    const id = (await this.#client.cluster('MYID')) as string;
    const replicas = (await this.#client.cluster('REPLICAS', id)) as string[];
    const isLone = replicas.every((line) => (line.split(' ')[2] ?? '').split(',').includes('fail'));
    if (!isLone) throw new NoReplicaError(`no replica confirmed within ${this.waitMs} ms`);
    this.#loneUntilMs = performance.now() + loneMs;
  }

  #end(): void {
    this.close();
    this.events.onEnd();
  }
}
