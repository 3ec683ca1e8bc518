/** One worker process: its partitions, their leases, its heartbeat. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { leaseMs } from '../contract/limits.ts';
import { oneFlight } from '../lib/one-flight.ts';
import { repeat } from '../lib/repeat.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { ItemSink } from '../store/derived/item-sink.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import {
  type Lease,
  type RenewalMark,
  releaseLease,
  type TakenLease,
  takeLease,
} from '../store/partitions/lease.ts';
import { LeaseEnds } from '../store/partitions/lease-ends.ts';
import { readOwners } from '../store/partitions/owners.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import { FencedError, StoreUnavailableError } from '../store/redis/errors.ts';
import type { Store } from '../store/store.ts';
import { openStreamSource, type StreamSource } from '../store/streams/shared-streams.ts';
import { portionParts } from './batch/work.ts';
import { WorkerMetrics } from './metrics.ts';
import { nextStep } from './ownership/assignment.ts';
import { type Keeper, type OpenKeeper, openLocalKeeper } from './ownership/keeper.ts';
import { type LeaseEvent, LeaseNews } from './ownership/lease-news.ts';
import { LeaseWatch } from './ownership/lease-watch.ts';
import { PartitionActor } from './partition.ts';
import { WorkerBeat, type WorkerBeatSource } from './worker-beat.ts';

const tickMs = 500;
/** How soon a worker tells that it works by another configuration or other lookup layouts, or has other partitions: others wait for that word. */
const newsMs = 50;
/**
 * Of the largest; enough that one is computed while others wait for Redis, and more would only hold more entities in memory
 * at a time. Of small ones there are more, so that what they ask of Redis goes and comes together.
 */
const batchesAtOnce = 4;
const lagWaitMs = 200;
const batchPatienceMs = 1000;
/** Two of each entity of a full portion. */
const claimsPerCommitDefault = 800;

export interface WorkerOptions extends Pick<WorkerBeatSource, 'waitingFor'> {
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly autoFields: AutoFields;
  readonly items: ItemSink;
  /** After this long without a word of this worker others take its partitions; absent: the documented default. */
  readonly leaseMs?: number;
  /** So many claims may move with a commit on one Redis; absent: those of most batches. */
  readonly claimsPerCommit?: number;
  /** What keeps its leases and its heartbeat going; absent: its own thread does. */
  readonly openKeeper?: OpenKeeper;
  /** See `WorkerBeatSource`; absent: nowhere. */
  socketPath?(): string | null;
  /** Told of partitions that it has taken, lost or given back. */
  onLeases?(event: LeaseEvent, partitions: readonly number[]): void;
  onTrouble(message: string, error: unknown): void;
}

interface OwnedPartition {
  readonly actor: PartitionActor;
  readonly ended: Promise<void>;
}

export class Worker {
  readonly id = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  readonly metrics = new WorkerMetrics();
  readonly #leaseMs: number;
  readonly #owned = new Map<number, OwnedPartition>();
  /** By this process' clock, a little before Redis ends the leases. */
  readonly #ends: LeaseEnds;
  readonly #keeper: Keeper;
  readonly #beat: WorkerBeat;
  readonly #watch: LeaseWatch;
  readonly #news: LeaseNews;
  readonly #streams: StreamSource;
  readonly #rebuildTurns = new Semaphore(1);
  readonly #batchSlots = new Semaphore(batchesAtOnce * portionParts, batchPatienceMs);
  readonly #measureLagOnce = oneFlight(() => this.#measureLag().catch(() => {}));
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: WorkerOptions) {
    this.#leaseMs = options.leaseMs ?? leaseMs;
    const { store, openKeeper = openLocalKeeper, onTrouble } = options;
    this.#streams = openStreamSource(store);
    this.#watch = new LeaseWatch(this.#leaseMs);
    this.#news = new LeaseNews((event, partitions) => options.onLeases?.(event, partitions));
    this.#ends = LeaseEnds.ofPartitions(store.partitions.count);
    const terms = { leaseMs: this.#leaseMs, ends: this.#ends };
    this.#keeper = openKeeper(store, terms, {
      lost: (lease) => this.#onLost(lease),
      trouble: onTrouble,
      metrics: () => this.#metricsText(),
    });
    const { configuration, waitingFor, socketPath } = options;
    this.#beat = new WorkerBeat(
      {
        id: this.id,
        configuration,
        bases: () => [...this.#owned.values()].map(({ actor }) => actor.basis),
        covered: () => this.covered().keys(),
        waitingFor,
        socketPath: () => socketPath?.() ?? null,
      },
      this.#keeper,
    );
  }

  /** Partitions that can answer queries now, with their epochs. */
  covered(): ReadonlyMap<number, number> {
    const nowMs = performance.now();
    const covered = new Map<number, number>();
    for (const [partition, { actor }] of this.#owned) {
      if (actor.loaded && nowMs < this.#ends.endMs(partition)) covered.set(partition, actor.lease.epoch);
    }
    return covered;
  }

  start(): void {
    this.#running = Promise.all([
      this.#repeat(newsMs, () => this.#beat.tellWhenDue()),
      this.#repeat(tickMs, () => this.#rebalance()),
    ]);
  }

  /** Finishes the batches under way and gives the partitions back. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await Promise.all([...this.#owned.keys()].map((partition) => this.#giveBack(partition)));
    this.#streams.close();
    this.#news.close();
    await this.#keeper.close();
  }

  #repeat(pauseMs: number, act: () => void | Promise<void>): Promise<void> {
    const onError = (error: unknown) => {
      // Whoever watches the connection tells of it, once.
      if (!(error instanceof StoreUnavailableError)) this.options.onTrouble('the worker stumbled', error);
    };
    return repeat(act, { pauseMs, signal: this.#stop.signal, onError });
  }

  async #metricsText(): Promise<string> {
    // A shard of a cluster that does not answer must not keep everything else from being told.
    await Promise.race([this.#measureLagOnce(), setTimeout(lagWaitMs)]);
    return await this.metrics.text();
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
    const askedMs = performance.now();
    const [owners, processes] = await Promise.all([readOwners(store), liveProcesses(store)]);
    const unrenewed = this.#watch.look(owners, askedMs, performance.now());
    const { take, release } = nextStep({
      workerId: this.id,
      liveWorkerIds: processes.filter(({ role }) => role === 'worker').map(({ id }) => id),
      owners: owners.map(({ workerId, holds }, partition) =>
        holds && (workerId === this.id || !unrenewed.has(partition)) ? workerId : null,
      ),
    });
    await Promise.all(release.map((partition) => this.#giveBack(partition)));
    // Together: of a dead worker's partitions each is without an owner until it is taken.
    const taken = take.filter((partition) => !this.#stop.signal.aborted && !this.#owned.has(partition));
    await Promise.all(taken.map((partition) => this.#take(partition, unrenewed.get(partition))));
  }

  async #take(partition: number, unrenewed?: RenewalMark): Promise<void> {
    const askedMs = performance.now();
    const lease = await takeLease(this.options.store, partition, this.id, this.#leaseMs, unrenewed);
    if (lease === null) return;
    await this.#catchUp(lease);
    this.#ends.set(partition, askedMs + this.#leaseMs);
    this.#run(lease);
    this.#keeper.keep(lease, askedMs);
    this.#news.add('taken', partition);
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

  #run(lease: TakenLease): void {
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
        if (isLoss(error)) this.#news.add('lost', lease.partition);
        else onTrouble(`partition ${lease.partition} stopped and will be taken again`, error);
      })
      .then(async () => {
        this.#keeper.letGo(lease.partition);
        await releaseLease(store, lease).catch(() => {});
        // Not before: until then a call to take it would find it ours still.
        this.#owned.delete(lease.partition);
        this.metrics.streamLag.remove({ partition: lease.partition });
      });
    this.#owned.set(lease.partition, { actor, ended });
  }

  #onLost({ partition, epoch }: Lease): void {
    const owned = this.#owned.get(partition);
    if (owned?.actor.lease.epoch !== epoch) return;
    this.#news.add('lost', partition);
    owned.actor.stop();
  }

  async #giveBack(partition: number): Promise<void> {
    const owned = this.#owned.get(partition);
    if (owned === undefined) return;
    owned.actor.stop();
    await owned.ended;
    this.#news.add('given back', partition);
  }
}

/** Another worker has the partition, or Redis was away: who runs into it first tells nothing new. */
function isLoss(error: unknown): boolean {
  return error instanceof FencedError || error instanceof StoreUnavailableError;
}
