/** A worker process: its partitions, their leases, and its heartbeat. */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import {
  changesRetentionDays,
  codeOpenCharactersMax,
  leaseMs as contractLeaseMs,
} from '../contract/limits.ts';
import { assert } from '../lib/assert.ts';
import { repeat } from '../lib/repeat.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { oneFlight } from '../lib/shared-promises.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { ItemSink } from '../store/derived/items.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { LeaseEnds } from '../store/ownership/lease.ts';
import { type PartitionOwner, readOwners } from '../store/ownership/owners.ts';
import { portionParts } from '../store/partitions/intake.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { newProcessId } from '../store/processes/heartbeat.ts';
import type { CopiesBeat, QueryAddresses } from '../store/processes/process-messages.ts';
import { liveProcesses } from '../store/processes/registry.ts';
import { StoreUnavailableError } from '../store/redis/redis-errors.ts';
import { ServerClock } from '../store/redis/server-clock.ts';
import type { Store } from '../store/store.ts';
import { openStreamSource, type StreamSource } from '../store/streams/shared-streams.ts';
import { CallMemory } from './batch/call-memory.ts';
import { LeaseWatch, nextStep } from './ownership/assignment.ts';
import { type Keeper, type OpenKeeper, openLocalKeeper } from './ownership/keeper.ts';
import { type LeaseEvent, LeaseReports, OwnedPartitions } from './ownership/owned-partitions.ts';
import type { PartitionContext } from './partition.ts';
import { SchedulePortions } from './partition-schedule.ts';
import { WorkerBeat, type WorkerBeatSource } from './worker-beat.ts';
import { WorkerMetrics } from './worker-metrics.ts';

const tickMs = 500;
/** How soon a worker reports a change of configuration, lookup layouts or partitions, because others wait for it. */
const beatCheckMs = 50;
/**
 * Number of concurrent full-size batches: one is computed while the others wait for Redis. More would only take more memory.
 * There may be more small batches, so that their Redis commands are pipelined.
 */
const batchesAtOnce = 4;
const lagWaitMs = 200;
const replacementPollMs = 50;
const dayMs = 86_400_000;
const batchPatienceMs = 1000;
/** Two claims of each entity in a full portion. */
const claimsPerCommitDefault = 800;

/** How long a worker that starts leaves free partitions to others that start with it. */
const restoreWaitMs = 60_000;

/** What a worker has from a snapshot when it starts. */
export interface Restored {
  /** Partitions whose items it has: it takes them first and releases them last. */
  readonly partitions: ReadonlySet<number>;
  /** Whether other workers on this host are reading snapshots. */
  othersAreRestoring(): Promise<boolean>;
}

export interface WorkerOptions extends Pick<WorkerBeatSource, 'waitingFor'> {
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly autoFields: AutoFields;
  readonly items: ItemSink;
  /** See `PartitionContext`; absent: false. */
  readonly namesItems?: boolean;
  /** Lease duration, after which other workers take its partitions if it is silent; absent: the documented default. */
  readonly leaseMs?: number;
  /** How long the change log keeps removals and traces; absent: the documented default. */
  readonly changesRetentionMs?: number;
  /** Maximum number of claims in a commit on a single Redis; absent: enough for most batches. */
  readonly claimsPerCommit?: number;
  /** Renews leases and sends heartbeats; absent to do so on the worker's own thread. */
  readonly openKeeper?: OpenKeeper;
  /** See `WorkerBeatSource`; absent: none. */
  queryAddresses?(): QueryAddresses | null;
  shardCopies?(): CopiesBeat | null;
  /** Called for partitions that it has taken, lost or released. */
  onLeases?(event: LeaseEvent, partitions: readonly number[]): void;
  onError(message: string, error: unknown): void;
}

export class Worker {
  readonly id = newProcessId();
  readonly metrics = new WorkerMetrics();
  readonly #owned: OwnedPartitions;
  readonly #keeper: Keeper;
  readonly #beat: WorkerBeat;
  readonly #watch: LeaseWatch;
  readonly #leaseReports: LeaseReports;
  readonly #streams: StreamSource;
  /** By partition, because the partitions of a cluster have different Redis nodes. */
  readonly #clocks: readonly ServerClock[];
  readonly #measureLagOnce = oneFlight(() => this.#measureLag().catch(() => {}));
  readonly #sandbox = new Sandbox();
  readonly #callMemory = new CallMemory(codeOpenCharactersMax);
  readonly #stop = new AbortController();
  #restored: Restored | null = null;
  #startedMs = 0;
  #othersWereRestoring = false;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: WorkerOptions) {
    const { store, configuration, waitingFor, openKeeper = openLocalKeeper, onError } = options;
    const leaseMs = options.leaseMs ?? contractLeaseMs;
    const ends = LeaseEnds.ofPartitions(store.partitions.count);
    this.#streams = openStreamSource(store);
    this.#clocks = store.partitions.tags.map(() => new ServerClock());
    this.#watch = new LeaseWatch(leaseMs);
    this.#leaseReports = new LeaseReports((event, partitions) => options.onLeases?.(event, partitions));
    this.#keeper = openKeeper(
      store,
      { leaseMs, ends },
      {
        lost: (lease) => this.#owned.onLost(lease),
        error: onError,
        metrics: () => this.metricsText(),
      },
    );
    this.#owned = new OwnedPartitions({
      workerId: this.id,
      leaseMs,
      ends,
      configuration,
      keeper: this.#keeper,
      leaseReports: this.#leaseReports,
      actors: this.#actorContext(),
      onError,
    });
    this.#beat = new WorkerBeat(
      {
        id: this.id,
        configuration,
        bases: () => this.#owned.actors.map(({ basis }) => basis),
        covered: () => this.#owned.covered().keys(),
        waitingFor,
        queryAddresses: () => options.queryAddresses?.() ?? null,
        shardCopies: () => options.shardCopies?.() ?? null,
      },
      this.#keeper,
    );
  }

  /** Partitions that can answer queries now, with their epochs. */
  covered(): ReadonlyMap<number, number> {
    return this.#owned.covered();
  }

  /** In the Prometheus text format. */
  async metricsText(): Promise<string> {
    // The metrics must not wait for an unresponsive node of a cluster.
    await Promise.race([this.#measureLagOnce(), setTimeout(lagWaitMs)]);
    return await this.metrics.text();
  }

  /** @param restored what it has from a snapshot; absent: nothing */
  start(restored: Restored | null = null): void {
    this.#restored = restored;
    this.#startedMs = performance.now();
    this.#running = Promise.all([
      this.#repeat(beatCheckMs, () => this.#beat.sendWhenDue()),
      this.#repeat(tickMs, () => this.#rebalance()),
    ]);
  }

  /**
   * Keeps working until another live worker can take the partitions, if there is a live front. In a rolling restart the next
   * worker may still be starting, and queries would wait for it.
   */
  async untilReplaceable(timeoutMs: number): Promise<void> {
    const { store } = this.options;
    const endsMs = performance.now() + timeoutMs;
    while (performance.now() < endsMs) {
      const processes = await liveProcesses(store).catch(() => []);
      const hasFront = processes.some(({ role }) => role === 'web');
      if (!hasFront || processes.some(({ role, id }) => role === 'worker' && id !== this.id)) return;
      await setTimeout(replacementPollMs);
    }
  }

  /** Finishes the current batches and releases the partitions. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#owned.releaseAll();
    this.#sandbox.close();
    this.#streams.close();
    this.#leaseReports.close();
    await this.#keeper.close();
  }

  /** The context shared by all partitions. */
  #actorContext(): PartitionContext {
    const { store, autoFields, items, configuration, claimsPerCommit, onError } = this.options;
    const { changesRetentionMs = changesRetentionDays * dayMs, namesItems = false } = this.options;
    return {
      store,
      streams: this.#streams,
      autoFields,
      items,
      namesItems,
      metrics: this.metrics,
      rebuildTurns: new Semaphore(1),
      schedulePortions: new SchedulePortions(),
      batchSlots: new Semaphore(batchesAtOnce * portionParts, batchPatienceMs),
      changesRetentionMs,
      claimsPerCommit: claimsPerCommit ?? claimsPerCommitDefault,
      sandbox: this.#sandbox,
      callMemory: this.#callMemory,
      basis: () => {
        const { current, generation, layouts } = configuration;
        return { configuration: current, generation, layouts };
      },
      clockMs: (partition) => this.#clockOf(partition).nowMs,
      onError: (partition, error) => onError(`partition ${partition}`, error),
    };
  }

  #clockOf(partition: number): ServerClock {
    const clock = this.#clocks[partition];
    assert(clock !== undefined, 'every partition has a clock');
    return clock;
  }

  #repeat(pauseMs: number, act: () => void | Promise<void>): Promise<void> {
    const onError = (error: unknown) => {
      // `OutageWatch` reports a lost Redis, once.
      if (!(error instanceof StoreUnavailableError))
        this.options.onError('unexpected error in the worker', error);
    };
    return repeat(act, { pauseMs, signal: this.#stop.signal, onError });
  }

  async #measureLag(): Promise<void> {
    await Promise.all(
      this.#owned.actors.map(async (actor) => {
        const { partition, tag } = actor.lease;
        const end = await lastSequence(this.options.store, tag);
        if (this.#owned.has(partition))
          this.metrics.streamLag.set({ partition }, Math.max(0, end - actor.checkpoint));
      }),
    );
  }

  async #readOwners(): Promise<PartitionOwner[]> {
    const owners = await readOwners(this.options.store);
    for (const [partition, { clockMs }] of owners.entries()) this.#clockOf(partition).set(clockMs);
    return owners;
  }

  /**
   * True while workers that started with this one read their snapshots, and once more, because their first heartbeats come after
   * that.
   */
  async #waitsForOthers(): Promise<boolean> {
    const isOver = performance.now() - this.#startedMs > restoreWaitMs;
    if (isOver || this.#restored === null || this.#restored.partitions.size === 0) return false;
    const were = this.#othersWereRestoring;
    this.#othersWereRestoring = await this.#restored.othersAreRestoring();
    return were || this.#othersWereRestoring;
  }

  async #rebalance(): Promise<void> {
    const { store, configuration } = this.options;
    // Without a configuration, every entity would appear to belong to a removed source.
    if (!configuration.loaded) return;
    const requestedMs = performance.now();
    const [owners, processes] = await Promise.all([this.#readOwners(), liveProcesses(store)]);
    const unrenewed = this.#watch.observe(owners, requestedMs, performance.now());
    const { take, release } = nextStep({
      workerId: this.id,
      liveWorkerIds: processes.filter(({ role }) => role === 'worker').map(({ id }) => id),
      owners: owners.map(({ workerId, holds }, partition) =>
        holds && (workerId === this.id || !unrenewed.has(partition)) ? workerId : null,
      ),
      preferred: this.#restored?.partitions ?? new Set(),
      takesPreferredOnly: await this.#waitsForOthers(),
    });
    await Promise.all(release.map((partition) => this.#owned.release(partition)));
    // Concurrently, because the partitions of a dead worker have no owner until they are taken.
    const taken = take.filter((partition) => !this.#stop.signal.aborted && !this.#owned.has(partition));
    await Promise.all(taken.map((partition) => this.#owned.take(partition, unrenewed.get(partition))));
  }
}
