/** The partitions of a worker: acquires their leases, runs their actors, releases them, and reports these events. */
import { performance } from 'node:perf_hooks';
import type { ActiveConfiguration } from '../../store/configuration/active-configuration.ts';
import {
  type Lease,
  type LeaseEnds,
  type RenewalMark,
  releaseLease,
  type TakenLease,
  takeLease,
} from '../../store/ownership/lease.ts';
import { FencedError, StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import { PartitionActor, type PartitionContext } from '../partition.ts';
import type { Keeper } from './keeper.ts';

export interface OwnershipContext {
  readonly workerId: string;
  readonly leaseMs: number;
  /** Expiry times of the leases on this process' clock, slightly before Redis expires them. */
  readonly ends: LeaseEnds;
  readonly configuration: ActiveConfiguration;
  readonly keeper: Keeper;
  readonly leaseReports: LeaseReports;
  /** Context of every actor. */
  readonly actors: PartitionContext;
  onError(message: string, error: unknown): void;
}

interface OwnedPartition {
  readonly actor: PartitionActor;
  readonly ended: Promise<void>;
}

export class OwnedPartitions {
  readonly #owned = new Map<number, OwnedPartition>();

  constructor(private readonly context: OwnershipContext) {}

  get actors(): PartitionActor[] {
    return [...this.#owned.values()].map(({ actor }) => actor);
  }

  has(partition: number): boolean {
    return this.#owned.has(partition);
  }

  /** Partitions that can answer queries now, with their epochs. */
  covered(): Map<number, number> {
    const nowMs = performance.now();
    const covered = new Map<number, number>();
    for (const { loaded, lease } of this.actors) {
      if (loaded && nowMs < this.context.ends.endMs(lease.partition))
        covered.set(lease.partition, lease.epoch);
    }
    return covered;
  }

  /**
   * @param unrenewed a lease that its owner has stopped renewing, although Redis still counts it as valid
   * @throws StoreUnavailableError
   */
  async take(partition: number, unrenewed?: RenewalMark): Promise<void> {
    const { actors, workerId, leaseMs, ends, keeper, leaseReports } = this.context;
    const requestedMs = performance.now();
    const lease = await takeLease(actors.store, partition, workerId, leaseMs, unrenewed);
    if (lease === null) return;
    await this.#catchUp(lease);
    ends.set(partition, requestedMs + leaseMs);
    const actor = new PartitionActor(actors, lease);
    this.#owned.set(partition, { actor, ended: this.#run(actor) });
    keeper.keep(lease, requestedMs);
    leaseReports.add('taken', partition);
  }

  /**
   * Loads the active configuration first. Jobs rebuild a partition without an owner once all known workers use a new
   * configuration, and this worker may have started with the previous one.
   */
  async #catchUp(lease: TakenLease): Promise<void> {
    try {
      await this.context.configuration.catchUp();
    } catch (error) {
      await releaseLease(this.context.actors.store, lease).catch(() => {});
      throw error;
    }
  }

  /** Resolves when all work for the partition has ended and others may take it. */
  async #run(actor: PartitionActor): Promise<void> {
    const { actors, keeper, leaseReports } = this.context;
    const { partition } = actor.lease;
    try {
      await actor.run();
    } catch (error) {
      if (error instanceof FencedError) actors.metrics.fenced.inc();
      if (isLoss(error)) leaseReports.add('lost', partition);
      else this.context.onError(`partition ${partition} stopped and will be acquired again`, error);
    }
    keeper.stopRenewing(partition);
    await releaseLease(actors.store, actor.lease).catch(() => {});
    // Only after the release, because until then `take` must not acquire the partition.
    this.#owned.delete(partition);
    actors.metrics.streamLag.remove({ partition });
  }

  /** Called when a lease was not renewed in time. */
  onLost({ partition, epoch }: Lease): void {
    const owned = this.#owned.get(partition);
    if (owned?.actor.lease.epoch !== epoch) return;
    this.context.leaseReports.add('lost', partition);
    owned.actor.stop();
  }

  async release(partition: number): Promise<void> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return;
    owned.actor.stop();
    await owned.ended;
    this.context.leaseReports.add('released', partition);
  }

  async releaseAll(): Promise<void> {
    await Promise.all([...this.#owned.keys()].map((partition) => this.release(partition)));
  }
}

/** True if another worker has the partition, or Redis was unavailable. */
function isLoss(error: unknown): boolean {
  return error instanceof FencedError || error instanceof StoreUnavailableError;
}

export type LeaseEvent = 'taken' | 'lost' | 'released';

const reportWindowMs = 500;

/**
 * Reports leases that were taken, lost or released. They mostly come and go together, so those of half a second are one
 * report.
 */
export class LeaseReports {
  readonly #pending = new Map<LeaseEvent, Set<number>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly report: (event: LeaseEvent, partitions: readonly number[]) => void) {}

  add(event: LeaseEvent, partition: number): void {
    this.#pending.set(event, (this.#pending.get(event) ?? new Set()).add(partition));
    this.#timer ??= setTimeout(() => this.#flush(), reportWindowMs);
  }

  /** Reports the remaining events. */
  close(): void {
    this.#flush();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [event, partitions] of this.#pending)
      this.report(
        event,
        [...partitions].sort((a, b) => a - b),
      );
    this.#pending.clear();
  }
}
