/** One worker process: its partitions, their leases, its heartbeat. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { leaseMs } from '../contract/limits.ts';
import type { AutoFields } from '../store/auto-fields.ts';
import type { ActiveConfiguration } from '../store/configuration.ts';
import { FencedError } from '../store/connection.ts';
import { readOwners, releaseLease, renewLease, type TakenLease, takeLease } from '../store/lease.ts';
import { lastSequence } from '../store/partition-state.ts';
import { beat, heartbeatMs, leave, type ProcessBeat, processesNow } from '../store/registry.ts';
import { openStreamSource, type StreamSource } from '../store/shared-streams.ts';
import type { Store } from '../store/store.ts';
import type { ItemSink } from '../store/types.ts';
import { nextStep } from './assignment.ts';
import { WorkerMetrics } from './metrics.ts';
import { PartitionActor } from './partition.ts';
import { Slots } from './slots.ts';
import { TurnQueue } from './turns.ts';
import { portionParts } from './work.ts';

const tickMs = 500;
/** How soon a worker tells that it works by another configuration or other lookup layouts: jobs wait for that word. */
const newsMs = 50;
/**
 * Of the largest; enough that one is computed while others wait for Redis, and more would only hold more entities in memory
 * at a time. Of small ones there are more, so that what they ask of Redis goes and comes together.
 */
const batchesAtOnce = 4;
const batchPatienceMs = 1000;
/** Two of each entity of a full portion. */
const claimsPerCommitDefault = 800;

export interface WorkerOptions {
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly autoFields: AutoFields;
  readonly items: ItemSink;
  /** After this long without a word of this worker others take its partitions; absent: as in the contract. */
  readonly leaseMs?: number;
  /** So many claims may move with a commit on one Redis; absent: those of most batches. */
  readonly claimsPerCommit?: number;
  /** What index shards still have to load, for `/health/ready`. */
  waitingFor(): readonly string[];
  /** Where fronts of this host can ask it without Redis, as in its heartbeat; absent or null: nowhere. */
  link?(): string | null;
  onTrouble(message: string, error: unknown): void;
}

interface OwnedPartition {
  readonly actor: PartitionActor;
  readonly ended: Promise<void>;
  /** By this process' clock, a little before Redis ends the lease. */
  leaseEndsMs: number;
  isRenewing: boolean;
}

/** What a worker goes by, as others hear of it. */
type Told = Pick<ProcessBeat, 'generation' | 'layouts'>;

export class Worker {
  readonly id = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  readonly metrics = new WorkerMetrics();
  readonly #leaseMs: number;
  readonly #owned = new Map<number, OwnedPartition>();
  readonly #streams: StreamSource;
  readonly #rebuildTurns = new TurnQueue();
  readonly #batchSlots = new Slots(batchesAtOnce * portionParts, batchPatienceMs);
  #measuringLag: Promise<void> | null = null;
  /** What the last heartbeat said of the configuration, and when the next one is due. */
  #told: Told = { generation: 0, layouts: 0 };
  #nextBeatMs = 0;
  #stopping = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: WorkerOptions) {
    this.#leaseMs = options.leaseMs ?? leaseMs;
    this.#streams = openStreamSource(options.store);
  }

  /** Partitions that can answer queries now, with their epochs. */
  covered(): ReadonlyMap<number, number> {
    const nowMs = performance.now();
    const covered = new Map<number, number>();
    for (const [partition, { actor, leaseEndsMs }] of this.#owned) {
      if (actor.loaded && nowMs < leaseEndsMs) covered.set(partition, actor.lease.epoch);
    }
    return covered;
  }

  start(): void {
    this.#running = Promise.all([
      this.#every(newsMs, () => this.#beatWhenDue()),
      this.#every(tickMs, () => this.#rebalance()),
      this.#every(tickMs, () => this.#renew()),
    ]);
  }

  /** Finishes the batches under way and gives the partitions back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
    await Promise.all([...this.#owned.keys()].map((partition) => this.#giveBack(partition)));
    this.#streams.close();
    await leave(this.options.store, this.id).catch(() => {});
  }

  async #every(intervalMs: number, act: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      await act().catch((error: unknown) => this.options.onTrouble('the store does not answer', error));
      await setTimeout(intervalMs);
    }
  }

  async #beatWhenDue(): Promise<void> {
    const nowMs = performance.now();
    const { generation, layouts } = this.#worksBy();
    const isNews = generation !== this.#told.generation || layouts !== this.#told.layouts;
    if (!isNews && nowMs < this.#nextBeatMs) return;
    // One that gets lost is made up for by the next regular one, not at once.
    this.#told = { generation, layouts };
    this.#nextBeatMs = nowMs + heartbeatMs;
    await this.#beat();
  }

  /** A batch that began by what was before still counts. */
  #worksBy(): Told {
    const { configuration } = this.options;
    const bases = configuration.loaded ? [...this.#owned.values()].map(({ actor }) => actor.basis) : [];
    return {
      generation: Math.min(configuration.generation, ...bases.map(({ generation }) => generation)),
      layouts: Math.min(configuration.layouts.version, ...bases.map(({ layouts }) => layouts.version)),
    };
  }

  async #beat(): Promise<void> {
    const { store, waitingFor, link } = this.options;
    this.#measureLagOnce();
    const metrics = await this.metrics.registry.metrics();
    await beat(store, {
      id: this.id,
      role: 'worker',
      host: hostname(),
      pid: process.pid,
      ...this.#worksBy(),
      partitions: [...this.covered().keys()].sort((a, b) => a - b),
      waitingFor: waitingFor(),
      metrics,
      link: link?.() ?? null,
    });
  }

  /** Not waited for: a shard of a cluster that does not answer must not make this worker look dead. */
  #measureLagOnce(): void {
    this.#measuringLag ??= this.#measureLag()
      .catch(() => {})
      .finally(() => {
        this.#measuringLag = null;
      });
  }

  async #measureLag(): Promise<void> {
    await Promise.all(
      [...this.#owned].map(async ([partition, { actor }]) => {
        const end = await lastSequence(this.options.store, actor.lease.tag);
        if (this.#owned.has(partition))
          this.metrics.streamLag.set({ partition }, Math.max(0, end - actor.checkpoint));
      }),
    );
  }

  async #rebalance(): Promise<void> {
    const { store, configuration } = this.options;
    // Without a configuration every entity would look like one whose source is gone.
    if (!configuration.loaded) return;
    const [owners, { processes, nowMs }] = await Promise.all([readOwners(store), processesNow(store)]);
    const { take, release } = nextStep({
      workerId: this.id,
      liveWorkerIds: processes.filter(({ role }) => role === 'worker').map(({ id }) => id),
      owners: owners.map(({ workerId, leaseUntilMs }) => (leaseUntilMs > nowMs ? workerId : null)),
    });
    await Promise.all(release.map((partition) => this.#giveBack(partition)));
    for (const partition of take) {
      if (!this.#stopping && !this.#owned.has(partition)) await this.#take(partition);
    }
  }

  async #take(partition: number): Promise<void> {
    const askedMs = performance.now();
    const lease = await takeLease(this.options.store, partition, this.id, this.#leaseMs);
    if (lease === null) return;
    await this.#catchUp(lease);
    this.#run(lease, askedMs + this.#leaseMs);
  }

  /**
   * Jobs have a partition that nobody owned rebuilt once all workers that they had heard of followed a new configuration;
   * this one may have begun by the former.
   */
  async #catchUp(lease: TakenLease): Promise<void> {
    const { store, configuration } = this.options;
    try {
      await configuration.catchUp();
    } catch (error) {
      await releaseLease(store, lease).catch(() => {});
      throw error;
    }
  }

  #run(lease: TakenLease, leaseEndsMs: number): void {
    const { store, autoFields, items, configuration, onTrouble } = this.options;
    const actor = new PartitionActor(
      {
        store,
        streams: this.#streams,
        autoFields,
        items,
        metrics: this.metrics,
        rebuildTurns: this.#rebuildTurns,
        batchSlots: this.#batchSlots,
        claimsPerCommit: this.options.claimsPerCommit ?? claimsPerCommitDefault,
        basis: () => {
          const { current, generation, layouts } = configuration;
          return { configuration: current, generation, layouts };
        },
        onTrouble: (partition, error) => onTrouble(`partition ${partition}`, error),
      },
      lease,
    );
    const ended = actor
      .run()
      .catch((error: unknown) => {
        if (error instanceof FencedError) this.metrics.fenced.inc();
        else onTrouble(`partition ${lease.partition} stopped and will be taken again`, error);
      })
      .then(async () => {
        await releaseLease(store, lease).catch(() => {});
        // Not before: until then a call to take it would find it ours still.
        this.#owned.delete(lease.partition);
        this.metrics.streamLag.remove({ partition: lease.partition });
      });
    this.#owned.set(lease.partition, { actor, ended, leaseEndsMs, isRenewing: false });
  }

  /** Each for itself: a shard of a cluster that does not answer must not end the leases of all others. */
  async #renew(): Promise<void> {
    for (const owned of this.#owned.values()) {
      if (owned.isRenewing) continue;
      owned.isRenewing = true;
      this.#renewOne(owned)
        .catch((error: unknown) => this.options.onTrouble('a lease was not renewed', error))
        .finally(() => {
          owned.isRenewing = false;
        });
    }
  }

  async #renewOne(owned: OwnedPartition): Promise<void> {
    const askedMs = performance.now();
    const stillOurs = await renewLease(this.options.store, owned.actor.lease, this.#leaseMs);
    if (stillOurs) owned.leaseEndsMs = askedMs + this.#leaseMs;
    else owned.actor.stop();
  }

  async #giveBack(partition: number): Promise<void> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return;
    owned.actor.stop();
    await owned.ended;
  }
}
