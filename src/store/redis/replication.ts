/**
 * Confirms writes that a failover must not lose. A master replies before its replica has a write. When the replica is promoted,
 * the last acknowledged writes may be lost: in a cluster, those in the partitions of that master. So a write is confirmed
 * before something depends on it (an acknowledgement, an effect in another partition).
 *
 * A confirmation is a separate write followed by `WAIT`. It covers everything that the master did before. Calls that arrive
 * meanwhile share the next one. It returns the history of the master; every failover begins a new history. So writes between
 * two observations of the same history belong to that history.
 *
 * The writes of a single Redis are one log, and a promoted replica has a prefix of it. So effects need no confirmation there.
 * Only acknowledgements do, if `CONFIRM_REPLICAS` is set (`Store.acknowledgements`).
 */

import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { replicaWaitMs } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { sum } from '../../lib/lists.ts';
import { ClusterMasters, ConfirmingMaster, type Masters, NoReplicaError, OneMaster } from './masters.ts';
import type { RedisAddress, RedisClient } from './redis-connection.ts';
import { StoreUnavailableError } from './redis-errors.ts';

const movedRetryMs = 50;
const attemptsMax = 3;

/** Tag -> history of its keys. */
export type Histories = ReadonlyMap<string, string>;

export interface Replication {
  /** Current or earlier histories, with which later writes can be confirmed. @throws StoreUnavailableError */
  observe(tags: readonly string[]): Promise<Histories>;
  /**
   * Waits until the replicas have everything that was done with these tags before the call.
   * @returns false after a failover: writes since the histories were observed may be lost
   * @throws StoreUnavailableError if too few replicas confirm in time
   */
  confirm(histories: Histories): Promise<boolean>;
  /**
   * Number of required replicas of the masters of these tags that do not confirm: they are gone, hang or lag. Takes as long as
   * a confirmation.
   * @throws StoreUnavailableError if a master does not respond
   */
  missing(tags: readonly string[]): Promise<number>;
  close(): void;
}

/** Confirmation for failovers in a cluster; does nothing with a single Redis. @param waitMs how long to wait for replicas */
export function replicationOf(client: RedisClient, waitMs = replicaWaitMs): Replication {
  return client instanceof Cluster
    ? new ConfirmedReplication(new ClusterMasters(client), waitMs)
    : noReplication;
}

/**
 * Confirmation of acknowledgements. With a single Redis, it protects against the promotion of a replica. In a cluster, it is
 * the same as for effects, unless a number of replicas is required: then a master without them confirms nothing.
 * @param replicas number of replicas that must have a write; 0: none is required
 */
export function confirmationOf(
  { client, address }: { readonly client: RedisClient; readonly address: RedisAddress },
  effects: Replication,
  replicas: number,
  waitMs = replicaWaitMs,
): Replication {
  if (replicas === 0) return effects;
  if (client instanceof Cluster) {
    return new ConfirmedReplication(new ClusterMasters(client, replicas, false), waitMs);
  }
  assert(address.kind === 'single', 'the client of a cluster is one for clusters');
  return new ConfirmedReplication(new OneMaster(address, replicas), waitMs);
}

const noReplication: Replication = {
  observe: async () => new Map(),
  confirm: async () => true,
  missing: async () => 0,
  close: () => {},
};

/**
 * Repeats an idempotent operation until it is certain to survive a failover.
 * @throws StoreUnavailableError; then it may or may not have happened
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
  throw new StoreUnavailableError('a failover interrupted every attempt');
}

class ConfirmedReplication implements Replication {
  readonly #known = new Map<string, string>();
  readonly #confirming = new Map<string, ConfirmingMaster>();
  #closed = false;

  constructor(
    private readonly masters: Masters,
    private readonly waitMs: number,
  ) {}

  async observe(tags: readonly string[]): Promise<Histories> {
    const observed = await Promise.all(
      this.masters
        .toConfirm(tags)
        .map(async (tag) => [tag, this.#known.get(tag) ?? (await this.#confirmed(tag))] as const),
    );
    return new Map(observed);
  }

  async confirm(histories: Histories): Promise<boolean> {
    const found = await Promise.all([...histories.keys()].map((tag) => this.#confirmed(tag)));
    return [...histories.values()].every((history, index) => history === found[index]);
  }

  async missing(tags: readonly string[]): Promise<number> {
    const tagOf = new Map(this.masters.toConfirm(tags).map((tag) => [this.masters.nameOf(tag), tag]));
    const counts = await Promise.all([...tagOf.values()].map((tag) => this.#missingAt(tag)));
    return sum(counts);
  }

  async #missingAt(tag: string): Promise<number> {
    try {
      await this.#confirmed(tag);
      return 0;
    } catch (error) {
      if (error instanceof NoReplicaError) return error.missing;
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    for (const master of this.#confirming.values()) master.close();
    this.#confirming.clear();
  }

  /** Retries for `waitMs` while no node is known to serve the tag. */
  async #confirmed(tag: string): Promise<string> {
    const endsMs = performance.now() + this.waitMs;
    for (;;) {
      try {
        const history = await this.#masterOf(tag).confirmed(tag);
        this.#known.set(tag, history);
        return history;
      } catch (error) {
        if (this.#closed || error instanceof NoReplicaError || performance.now() > endsMs) throw error;
      }
      await pause(movedRetryMs);
    }
  }

  #masterOf(tag: string): ConfirmingMaster {
    const name = this.masters.nameOf(tag);
    if (name === null || this.#closed) throw new StoreUnavailableError(`no node serves ${tag}`);
    const known = this.#confirming.get(name);
    if (known !== undefined) return known;
    const master = new ConfirmingMaster(name, this.masters, this.waitMs, () => this.#forget(name, master));
    this.#confirming.set(name, master);
    return master;
  }

  #forget(name: string, master: ConfirmingMaster): void {
    if (this.#confirming.get(name) === master) this.#confirming.delete(name);
    this.masters.onMoved();
  }
}
