/**
 * The owner of one partition: reads its stream from the checkpoint, processes the mailboxes of each portion, commits.
 * Rebuilds wait in a queue of their own and take turns with fresh changes, which always go first.
 */
import { performance } from 'node:perf_hooks';
import type { Semaphore } from '../lib/semaphore.ts';
import { parseDependent } from '../store/derived/dependents.ts';
import type { ItemSink } from '../store/derived/item-sink.ts';
import type { AutoFields } from '../store/entities/auto-fields.ts';
import { keys } from '../store/keys.ts';
import { commit } from '../store/partitions/commit.ts';
import { type IntakeEntry, IntakeReader } from '../store/partitions/intake.ts';
import { fenceOlderOwners, type TakenLease } from '../store/partitions/lease.ts';
import { lastSequence } from '../store/partitions/partition-state.ts';
import { encodePendingRebuild, readPendingRebuilds } from '../store/partitions/pending-rebuilds.ts';
import { FencedError, StoreUnavailableError } from '../store/redis/errors.ts';
import type { Store } from '../store/store.ts';
import type { StreamSource } from '../store/streams/shared-streams.ts';
import { StreamGapError } from '../store/streams/stream.ts';
import { type BatchResult, processBatch } from './batch/batch.ts';
import { Intents } from './batch/intents.ts';
import type { Basis } from './batch/turn.ts';
import { type EntityWork, type IntakePortion, portionsOf, rebuildWorks } from './batch/work.ts';
import type { WorkerMetrics } from './metrics.ts';
import { NamedFields } from './named-fields.ts';
import { RebuildQueue, type Waiting } from './rebuild/rebuild-queue.ts';
import { wholePartition } from './rebuild/rescan.ts';

const entriesPerRead = 200;
const blockMs = 1000;
/** Expected work of one rebuild portion: what a fresh change may have to wait for. */
const rebuildBudgetMs = 40;

export interface PartitionContext {
  readonly store: Store;
  /** Where the streams of all partitions of the worker are read. */
  readonly streams: StreamSource;
  readonly autoFields: AutoFields;
  readonly metrics: WorkerMetrics;
  readonly items: ItemSink;
  /** Rebuild portions of all partitions of the worker take turns. */
  readonly rebuildTurns: Semaphore;
  /** For the batches of fresh changes of all partitions of the worker. */
  readonly batchSlots: Semaphore;
  /** So many claims may move with a commit on one Redis; more are put before it. */
  readonly claimsPerCommit: number;
  /** What a batch that begins now works by. */
  basis(): Basis & { readonly generation: number };
  /** Called for what ends a batch but not the worker. */
  onTrouble(partition: number, error: unknown): void;
}

export class PartitionActor {
  readonly #queue = new RebuildQueue();
  readonly #reader: IntakeReader;
  readonly #namedFields = new NamedFields();
  #checkpoint: number;
  /** Number of the last commit. */
  #commits: number;
  #intents: Intents | null = null;
  /** Rebuilds that wait, as the metrics have it; null before the first commit. */
  #shownWaiting: number | null = null;
  #stopping = false;
  #ended = false;
  #loaded = false;
  /** What the batch under way works by; null between batches. */
  #batchBasis: ReturnType<PartitionContext['basis']> | null = null;
  #readable: Promise<IntakeEntry[]> | null = null;
  /** Our place in the line for a rebuild, and what to call when the turn that came is over. */
  #request: Promise<void> | null = null;
  #granted: (() => void) | null = null;
  #granting: Promise<void> | null = null;
  #endWait = () => {};
  #wake = () => {};

  constructor(
    private readonly context: PartitionContext,
    readonly lease: TakenLease,
  ) {
    this.#checkpoint = lease.checkpoint;
    this.#commits = lease.commits;
    this.#reader = new IntakeReader(context.streams, lease.tag, lease.checkpoint);
  }

  /** True once index items are loaded: the partition can answer queries. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Sequence of the last entry that is taken in. */
  get checkpoint(): number {
    return this.#checkpoint;
  }

  /** What every output from now on is built by. */
  get basis(): ReturnType<PartitionContext['basis']> {
    return this.#batchBasis ?? this.context.basis();
  }

  /** Runs until stopped or fenced. @throws FencedError when another worker owns the partition now; StoreUnavailableError */
  async run(): Promise<void> {
    const { store, items } = this.context;
    const { partition, epoch, tag, commits } = this.lease;
    try {
      if (!(await fenceOlderOwners(store, this.lease)))
        throw new FencedError('a newer owner is there already');
      for (const [field, [first, last]] of await pendingRebuilds(store, tag)) {
        const [tenant = '', ...rest] = field.split('|');
        this.#queue.add(tenant, rest.join('|'), first, last);
      }
      await items.open(partition, epoch, commits);
      this.#loaded = true;
      while (!this.#stopping) await this.#step();
    } finally {
      this.#loaded = false;
      this.#ended = true;
      this.#wake();
      this.#reader.close();
      void this.#request?.then(() => this.#granted?.());
      items.close(partition);
      this.context.metrics.rebuildsWaiting.remove({ partition });
    }
  }

  /** Ends `run` after the batch under way. */
  stop(): void {
    this.#stopping = true;
    this.#reader.close();
  }

  /**
   * Waits for entries or for the turn of a rebuild. Entries that are there go first; a rebuild whose turn has come
   * follows them, so that neither starves and no turn is held idle.
   */
  async #step(): Promise<void> {
    const entries = await this.#nextEntries();
    if (this.#stopping) return;
    if (entries !== null) await this.#takeIn(entries);
    if (this.#granted !== null && !this.#stopping) await this.#rebuild(this.#granted);
  }

  /** Null when the turn of a rebuild came first. */
  async #nextEntries(): Promise<IntakeEntry[] | null> {
    this.#readable ??= this.#reader.next(entriesPerRead, blockMs);
    this.#granting ??= this.#rebuildGranted().then(() => {
      this.#granting = null;
      this.#endWait();
    });
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
   * Entries, or null when the turn of a rebuild comes first. Not a race of promises: where nothing is ever rebuilt that
   * turn's would hold on to every race it was in, and with it to all that was ever read.
   */
  #firstOf(readable: Promise<IntakeEntry[]>): Promise<IntakeEntry[] | null> {
    return new Promise((resolve, reject) => {
      this.#endWait = () => resolve(null);
      readable.then(resolve, reject);
    });
  }

  /** One at a time: waits until a rebuild is ready, then in the line of the worker's partitions. */
  async #rebuildGranted(): Promise<void> {
    for (;;) {
      const waitMs = this.#queue.readyInMs(performance.now());
      if (waitMs === 0) break;
      await this.#sleep(waitMs);
      // A turn asked for after the end would never be given back.
      if (this.#ended) return;
    }
    this.#request ??= this.context.rebuildTurns.acquire().then((release) => {
      this.#granted = release;
    });
    await this.#request;
  }

  /** Until `#wake` is called, or the time is over; null sets none. */
  async #sleep(waitMs: number | null): Promise<void> {
    let timer: NodeJS.Timeout | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (waitMs !== null) timer = setTimeout(resolve, waitMs);
    });
    if (timer !== null) clearTimeout(timer);
  }

  async #takeIn(entries: readonly IntakeEntry[]): Promise<void> {
    for (const portion of portionsOf(entries)) {
      const release = await this.context.batchSlots.acquire(portion.parts);
      try {
        if (this.#stopping) return;
        await this.#process(portion);
      } finally {
        release();
      }
    }
  }

  async #process({ works, invalidations, sequence }: IntakePortion): Promise<void> {
    const result = await this.#batch(works);
    const key = keys.pendingRebuilds(this.lease.tag);
    const whole = invalidations.length === 0 ? noNames : new Set(works.map(nameOfWork));
    for (const { tenant, dependents, sequence: asked } of invalidations) {
      for (const dependent of dependents) {
        // A whole turn in this portion has seen the change that invalidated it.
        if (isWholeTurn(tenant, dependent, whole)) continue;
        const waiting = this.#queue.add(tenant, dependent, asked, asked);
        result.writes.set(key, pendingField(waiting), encodePendingRebuild(waiting.first, waiting.last));
      }
    }
    this.#wake();
    await this.#commit(result, sequence);
    this.context.metrics.entitiesProcessed.inc(result.counts.entities);
  }

  async #rebuild(release: () => void): Promise<void> {
    try {
      const startMs = performance.now();
      const taken = this.#queue.take(startMs, rebuildBudgetMs);
      if (taken.length === 0) return;
      const result = await this.#batch(rebuildWorks(taken));
      for (const waiting of taken)
        result.writes.delete(keys.pendingRebuilds(this.lease.tag), pendingField(waiting));
      const endMs = performance.now();
      this.#queue.done(
        taken.map(({ dependent }) => dependent),
        endMs,
        endMs - startMs,
      );
      await this.#commit(result, this.#checkpoint);
      this.context.metrics.rebuilds.inc(result.counts.built);
      this.context.metrics.rebuildsUnchanged.inc(result.counts.unchanged);
    } finally {
      this.#request = null;
      this.#granted = null;
      release();
    }
  }

  async #openIntents(): Promise<Intents> {
    this.#intents ??= await Intents.load(this.context.store, this.lease);
    return this.#intents;
  }

  async #batch(works: readonly EntityWork[]): Promise<BatchResult> {
    const { store, autoFields, claimsPerCommit } = this.context;
    const intents = await this.#openIntents();
    const basis = this.context.basis();
    const context = {
      store,
      lease: this.lease,
      basis,
      autoFields,
      intents,
      namedFields: this.#namedFields,
      claimsPerCommit,
    };
    this.#batchBasis = basis;
    try {
      return await processBatch(context, works);
    } catch (error) {
      if (error instanceof FencedError || error instanceof StoreUnavailableError) throw error;
      // A mistake of ours that one entity brings out must not hold up the others of its partition.
      const sound: EntityWork[] = [];
      for (const work of works) {
        await processBatch(context, [work]).then(
          () => sound.push(work),
          (cause: unknown) => {
            if (cause instanceof FencedError || cause instanceof StoreUnavailableError) throw cause;
            this.context.onTrouble(this.lease.partition, cause);
          },
        );
      }
      return await processBatch(context, sound);
    }
  }

  async #commit(result: BatchResult, checkpoint: number): Promise<void> {
    const { metrics, items, store } = this.context;
    const announcement = {
      checkpoint,
      pendingRebuilds: this.#queue.firstInvalidations(),
      downstream: result.downstream,
      digests: result.digests.bytes,
    };
    const { writes, claimWrites } = result;
    const commits = await commit(store, this.lease, writes, announcement, this.#commits, claimWrites);
    this.#checkpoint = checkpoint;
    this.#commits = commits;
    this.#batchBasis = null;
    this.#intents?.settle();
    this.#namedFields.settle();
    items.apply(this.lease.partition, commits, result.itemChanges);
    metrics.commits.inc();
    metrics.outputsBuilt.inc(result.counts.built);
    metrics.outputsUnchanged.inc(result.counts.unchanged);
    for (const [kind, count] of result.counts.diagnostics) metrics.diagnostics.inc({ kind }, count);
    this.#showWaiting();
  }

  /** The gauge takes its time to find a partition. */
  #showWaiting(): void {
    const { size } = this.#queue;
    if (size === this.#shownWaiting) return;
    this.#shownWaiting = size;
    this.context.metrics.rebuildsWaiting.set({ partition: this.lease.partition }, size);
  }

  /** Entries were trimmed unread: what they said is found again by looking at every entity of the partition. */
  async #recoverFromGap(): Promise<void> {
    const { store, onTrouble } = this.context;
    const last = await lastSequence(store, this.lease.tag);
    onTrouble(
      this.lease.partition,
      new Error(`stream entries ${this.#checkpoint + 1} to ${last} were not all there`),
    );
    for await (const works of wholePartition(store, this.lease, this.context.basis().configuration)) {
      await this.#commit(await this.#batch(works), this.#checkpoint);
    }
    const intents = await this.#openIntents();
    await this.#commit(await this.#batch(intents.works), last);
    this.#reader.seek(last);
  }
}

const noNames: ReadonlySet<string> = new Set();

function nameOfWork({ tenant, sourceId, originId }: EntityWork): string {
  return `${tenant}:${sourceId}:${originId}`;
}

function isWholeTurn(tenant: string, dependent: string, whole: ReadonlySet<string>): boolean {
  const parsed = parseDependent(dependent);
  // A repair asks for more than a whole turn does.
  if (parsed?.kind === 'repair') return false;
  return parsed === null || whole.has(`${tenant}:${parsed.sourceId}:${parsed.originId}`);
}

/** Field of `keys.pendingRebuilds`: the tenant, then the dependent. */
function pendingField({ tenant, dependent }: Pick<Waiting, 'tenant' | 'dependent'>): string {
  return `${tenant}|${dependent}`;
}

async function pendingRebuilds(store: Store, tag: string): Promise<[string, readonly [number, number]][]> {
  const pending = [...(await readPendingRebuilds(store, tag))];
  return pending.sort(([, [a]], [, [b]]) => a - b);
}
