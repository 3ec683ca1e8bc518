/**
 * The owner of one partition: reads its stream from the checkpoint, processes each portion, and commits. Rebuilds wait in a
 * separate queue and take turns with new changes, which always go first.
 */
import { performance } from 'node:perf_hooks';
import { deferredWaitMs } from '../contract/limits.ts';
import { assert } from '../lib/assert.ts';
import type { Semaphore } from '../lib/semaphore.ts';
import { writeReferences } from '../store/change-log/references.ts';
import { RemovedViews } from '../store/change-log/reported-views.ts';
import { trimPauseMs, trimTraces } from '../store/change-log/trim.ts';
import { type ItemSink, packItemNames } from '../store/derived/items.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { fenceOlderOwners, type TakenLease } from '../store/ownership/lease.ts';
import { commit } from '../store/partitions/commit.ts';
import {
  type EntityWork,
  type IntakeEntry,
  type IntakePortion,
  IntakeReader,
  nameOfWork,
  portionsOf,
  rebuildWorks,
} from '../store/partitions/intake.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { FencedError } from '../store/redis/redis-errors.ts';
import type { Store } from '../store/store.ts';
import type { StreamSource } from '../store/streams/shared-streams.ts';
import { StreamGapError } from '../store/streams/stream.ts';
import { type BatchResult, processFaultless } from './batch/batch.ts';
import { NamedFields } from './batch/batch-changes.ts';
import { Intents } from './batch/batch-intents.ts';
import type { CallMemory } from './batch/call-memory.ts';
import { CodeRuns, type CodeSource } from './batch/code-runs.ts';
import type { TurnBasis } from './batch/turn.ts';
import { LeaseLife } from './ownership/lease-life.ts';
import { Schedule, type SchedulePortions } from './partition-schedule.ts';
import { noRebuilds, PendingRebuilds } from './rebuild/pending-rebuilds.ts';
import { wholePartition } from './rebuild/rescan.ts';
import { SharedTurn } from './shared-turn.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

const entriesPerRead = 200;
const blockMs = 1000;
/** Expected work of one rebuild portion. A new change may have to wait that long. */
const rebuildBudgetMs = 40;

export interface PartitionContext {
  readonly store: Store;
  /** Reads the streams of all partitions of the worker. */
  readonly streams: StreamSource;
  readonly autoFields: AutoFields;
  readonly metrics: WorkerMetrics;
  readonly items: ItemSink;
  /** True if commits announce the items that they change, for workers with shard copies. */
  readonly namesItems: boolean;
  /** Turns for rebuild portions, shared by all partitions of the worker. */
  readonly rebuildTurns: Semaphore;
  /** Turns for schedule portions, shared by all partitions of the worker. */
  readonly schedulePortions: SchedulePortions;
  /** Slots for batches of new changes, shared by all partitions of the worker. */
  readonly batchSlots: Semaphore;
  /** How long the change log keeps removals and traces. */
  readonly changesRetentionMs: number;
  /** Maximum number of claims in a commit on a single Redis. More are written before it. */
  readonly claimsPerCommit: number;
  /** Runs the code of schemas, for all partitions of the worker. */
  readonly sandbox: CodeSource;
  /** Limits the memory of its calls that outlast their batches, over all partitions. */
  readonly callMemory: CallMemory;
  /** The current configuration and layouts, for a new batch. */
  basis(): TurnBasis & { readonly generation: number };
  /** The time on the clock of the partition's Redis. */
  clockMs(partition: number): number;
  /** Called for errors that end a batch but not the worker. */
  onError(partition: number, error: unknown): void;
}

export class PartitionActor {
  readonly #life = new LeaseLife();
  readonly #code: CodeRuns;
  readonly #pending: PendingRebuilds;
  readonly #rebuildTurn: SharedTurn;
  readonly #schedule: Schedule;
  readonly #scheduleTurn: SharedTurn;
  readonly #reader: IntakeReader;
  readonly #namedFields = new NamedFields();
  readonly #removedViews: RemovedViews;
  #checkpoint: number;
  /** Number of the last commit. */
  #commits: number;
  #intents: Intents | null = null;
  /** Number of waiting rebuilds in the metrics; null before the first commit. */
  #shownWaiting: number | null = null;
  /** Configuration and layouts of the current batch; null between batches. */
  #batchBasis: ReturnType<PartitionContext['basis']> | null = null;
  #readable: Promise<IntakeEntry[]> | null = null;
  #trimAtMs = 0;
  #endWait = () => {};

  constructor(
    private readonly context: PartitionContext,
    readonly lease: TakenLease,
  ) {
    const { store, streams, rebuildTurns, schedulePortions } = context;
    this.#checkpoint = lease.checkpoint;
    this.#commits = lease.commits;
    this.#removedViews = new RemovedViews(store, lease.tag);
    this.#reader = new IntakeReader(streams, lease.tag, lease.checkpoint);
    this.#code = new CodeRuns(
      context.sandbox,
      context.callMemory,
      () => this.#rebuildTurn.wake(),
      (error) => context.onError(lease.partition, error),
    );
    this.#pending = new PendingRebuilds(store, lease.tag, this.#code);
    this.#rebuildTurn = new SharedTurn(
      rebuildTurns,
      (nowMs) => this.#pending.readyInMs(nowMs),
      () => this.#endWait(),
    );
    this.#schedule = new Schedule(store, lease.tag);
    this.#scheduleTurn = new SharedTurn(
      schedulePortions.turns,
      () => this.#schedule.readyInMs(this.#clockMs),
      () => this.#endWait(),
    );
  }

  get #clockMs(): number {
    return this.context.clockMs(this.lease.partition);
  }

  /** True once index items are loaded, so that the partition can answer queries. */
  get loaded(): boolean {
    return this.#life.isLoaded;
  }

  /** Sequence of the last processed entry. */
  get checkpoint(): number {
    return this.#checkpoint;
  }

  /** The oldest configuration and layouts that outputs are still built with. */
  get basis(): ReturnType<PartitionContext['basis']> {
    return this.#batchBasis ?? this.context.basis();
  }

  /** Runs until stopped or fenced. @throws FencedError if another worker owns the partition now; StoreUnavailableError */
  async run(): Promise<void> {
    const { store, items } = this.context;
    const { partition, epoch, commits } = this.lease;
    try {
      if (!(await fenceOlderOwners(store, this.lease)))
        throw new FencedError('a newer owner is there already');
      await this.#reader.begin();
      await this.#pending.load();
      await this.#schedule.load();
      this.#showScheduled();
      if (!this.#life.acceptsWork) return;
      await items.open(partition, epoch, commits);
      if (!this.#life.acceptsWork) return;
      this.#life.on('loaded');
      await this.#settleLeft();
      while (this.#life.acceptsWork) await this.#step();
    } finally {
      this.#life.on('ended');
      this.#code.end();
      this.#rebuildTurn.close();
      this.#scheduleTurn.close();
      this.#reader.close();
      items.close(partition);
      this.context.metrics.rebuildsWaiting.remove({ partition });
      this.context.metrics.scheduledEntities.remove({ partition });
    }
  }

  /** Ends `run` after the current batch, or ends the load of its items. */
  stop(): void {
    this.#life.on('stopped');
    this.#reader.close();
    if (!this.#life.isLoaded) this.context.items.close(this.lease.partition);
  }

  /**
   * Waits for entries, or for the turn of a rebuild or the schedule. Available entries go first; a rebuild and the schedule
   * follow if they have a turn, so that none starves and no turn is held idle.
   */
  async #step(): Promise<void> {
    const entries = await this.#nextEntries();
    if (!this.#life.acceptsWork) return;
    if (entries !== null) await this.#takeIn(entries);
    if (performance.now() >= this.#trimAtMs) await this.#trimLog();
    if (this.#rebuildTurn.isAcquired && this.#life.acceptsWork) await this.#rebuild();
    if (this.#scheduleTurn.isAcquired && this.#life.acceptsWork) await this.#followSchedule();
  }

  /**
   * Processes the entities in notes of the previous owner. The cause of their turns may not recur, for example if it processed
   * all entities because of a gap in the stream.
   */
  async #settleLeft(): Promise<void> {
    const { works } = await this.#openIntents();
    if (works.length > 0) await this.#commit(await this.#batch(works, this.#checkpoint), this.#checkpoint);
  }

  /** Null if the turn of a rebuild or the schedule came first. */
  async #nextEntries(): Promise<IntakeEntry[] | null> {
    this.#readable ??= this.#reader.next(entriesPerRead, blockMs);
    this.#rebuildTurn.request();
    this.#scheduleTurn.request();
    try {
      const entries = await this.#firstOf(this.#readable);
      if (entries !== null) this.#readable = null;
      return entries;
    } catch (error) {
      this.#readable = null;
      if (!(error instanceof StreamGapError)) throw error;
      await this.#recoverFromGap();
      return null;
    }
  }

  /**
   * Entries, or null if a turn comes first. `Promise.race` would leak: if nothing is ever rebuilt, the pending promise of the
   * turn would keep every race, and so all entries, in memory.
   */
  #firstOf(readable: Promise<IntakeEntry[]>): Promise<IntakeEntry[] | null> {
    return new Promise((resolve, reject) => {
      this.#endWait = () => resolve(null);
      readable.then(resolve, reject);
    });
  }

  async #takeIn(entries: readonly IntakeEntry[]): Promise<void> {
    for (const portion of portionsOf(entries)) {
      const release = await this.context.batchSlots.acquire(portion.parts);
      try {
        if (!this.#life.acceptsWork) return;
        await this.#process(portion);
      } finally {
        release();
      }
    }
  }

  async #process(portion: IntakePortion): Promise<void> {
    const result = await this.#batch(portion.works, this.#checkpoint + 1);
    this.#pending.add(portion, result.changes.writes);
    await this.#commit(result, portion.sequence);
    this.context.metrics.entitiesProcessed.inc(result.changes.counts.entities);
  }

  async #rebuild(): Promise<void> {
    const { metrics } = this.context;
    try {
      const startMs = performance.now();
      const taken = this.#pending.take(startMs, rebuildBudgetMs);
      if (taken.rebuilds.length === 0) return;
      const result = await this.#batch(rebuildWorks(taken.rebuilds), this.#checkpoint, taken);
      const endMs = performance.now();
      this.#pending.done(taken, endMs, endMs - startMs);
      await this.#commit(result, this.#checkpoint);
      metrics.rebuilds.inc(result.changes.counts.built);
      metrics.rebuildsUnchanged.inc(result.changes.counts.unchanged);
    } finally {
      this.#rebuildTurn.release();
    }
  }

  /** Processes due entities. The commit removes them from the schedule; if the owner stops before it, the next one finds them. */
  async #followSchedule(): Promise<void> {
    const { schedulePortions, metrics } = this.context;
    const startMs = performance.now();
    // The batch uses the same time, because the clock may be set back meanwhile.
    const nowMs = this.#clockMs;
    try {
      const works = await this.#schedule.takeDue(nowMs, schedulePortions.size);
      if (works.length === 0) return;
      const result = await this.#batch(works, this.#checkpoint, noRebuilds, nowMs);
      this.#dropUnsound(works, result);
      await this.#commit(result, this.#checkpoint);
      schedulePortions.took(works.length, performance.now() - startMs);
      metrics.entitiesProcessed.inc(result.changes.counts.entities);
    } finally {
      this.#scheduleTurn.release();
    }
  }

  /** Drops the schedule entries of turns that failed because of a bug, so that they are not retried forever. */
  #dropUnsound(works: readonly EntityWork[], { turns, changes }: BatchResult): void {
    const sound = new Set(turns.map(nameOfWork));
    for (const work of works.filter((one) => !sound.has(nameOfWork(one)))) {
      for (const moment of work.moments ?? []) changes.wait(work, moment, false);
    }
  }

  async #trimLog(): Promise<void> {
    const { store, changesRetentionMs } = this.context;
    await trimTraces(store, this.lease, changesRetentionMs);
    this.#trimAtMs = performance.now() + trimPauseMs(changesRetentionMs);
  }

  async #openIntents(): Promise<Intents> {
    this.#intents ??= await Intents.load(this.context.store, this.lease);
    return this.#intents;
  }

  /** @param from first sequence whose changes no batch has seen before */
  async #batch(
    works: readonly EntityWork[],
    from: number,
    taken = noRebuilds,
    nowMs = this.#clockMs,
  ): Promise<BatchResult> {
    const { lease, context } = this;
    const { store, autoFields, claimsPerCommit } = context;
    const intents = await this.#openIntents();
    const basis = context.basis();
    this.#batchBasis = basis;
    const inputs = { store, lease, basis, autoFields, intents, claimsPerCommit };
    const result = await processFaultless(
      {
        ...inputs,
        namedFields: this.#namedFields,
        removedViews: this.#removedViews,
        code: this.#code,
        codeWaitMs: taken.areDeferred ? deferredWaitMs : undefined,
        nowMs,
      },
      works,
      (error) => context.onError(lease.partition, error),
    );
    const late = result.changes.deferred.filter(({ reason }) => reason === 'code');
    this.#code.settle(new Set(late.map(({ tenant, dependent }) => `${tenant}|${dependent}`)));
    this.#pending.settle(result, from, taken);
    return result;
  }

  async #commit(result: BatchResult, checkpoint: number): Promise<void> {
    assert(!this.#life.isEnded, 'a commit is made under a held lease');
    assert(checkpoint >= this.#checkpoint, 'a checkpoint only grows');
    const { metrics, items, store } = this.context;
    const { changes, claimWrites: claims, references, referencesAfter, downstream } = result;
    const { writes, digests, itemChanges, counts, reported } = changes;
    this.#rebuildTurn.wake();
    const announcement = {
      checkpoint,
      ...this.#pending.announced,
      downstream,
      digests: digests.bytes,
      ...(this.context.namesItems ? { itemNames: packItemNames(itemChanges) } : {}),
    };
    const beside = { claims, references, reported };
    this.#commits = await commit(store, this.lease, writes, announcement, this.#commits, beside);
    this.#checkpoint = checkpoint;
    this.#batchBasis = null;
    this.#intents?.settle();
    this.#namedFields.settle();
    this.#schedule.settle(changes.schedule);
    this.#scheduleTurn.wake();
    items.apply(this.lease.partition, this.#commits, itemChanges);
    await writeReferences(store, this.lease, referencesAfter);
    metrics.commits.inc();
    metrics.outputsBuilt.inc(counts.built);
    metrics.outputsUnchanged.inc(counts.unchanged);
    for (const [kind, count] of counts.diagnostics) metrics.diagnostics.inc({ kind }, count);
    this.#showWaiting();
    if (changes.schedule.length > 0) this.#showScheduled();
  }

  #showScheduled(): void {
    this.context.metrics.scheduledEntities.set({ partition: this.lease.partition }, this.#schedule.size);
  }

  /** Only sets the gauge if the number has changed, because looking up its label takes time. */
  #showWaiting(): void {
    const { size } = this.#pending.queue;
    if (size === this.#shownWaiting) return;
    this.#shownWaiting = size;
    this.context.metrics.rebuildsWaiting.set({ partition: this.lease.partition }, size);
  }

  /** Recovers from entries that were trimmed unread, by processing every entity of the partition. */
  async #recoverFromGap(): Promise<void> {
    const { store, onError } = this.context;
    const last = await lastSequence(store, this.lease.tag);
    const message = `stream entries ${this.#checkpoint + 1} to ${last} were not all there`;
    onError(this.lease.partition, new Error(message));
    for await (const works of wholePartition(store, this.lease, this.context.basis().configuration)) {
      // The next owner finds the same gap, because the checkpoint has not moved.
      if (!this.#life.acceptsWork) return;
      await this.#commit(await this.#batch(works, this.#checkpoint), this.#checkpoint);
    }
    const intents = await this.#openIntents();
    await this.#commit(await this.#batch(intents.works, this.#checkpoint), last);
    this.#reader.seek(last);
  }
}
