/**
 * The waiting rebuilds of a partition, and the outputs that batches deferred. Redis has a field for each, from the commit that
 * queues it to the commit that contains it.
 */
import { parseDependent } from '../../store/derived/dependents.ts';
import { keys } from '../../store/keys.ts';
import type { PartitionWrites } from '../../store/partitions/commit.ts';
import { type IntakePortion, nameOfWork } from '../../store/partitions/intake.ts';
import { encodePendingRebuild, readPendingRebuilds } from '../../store/partitions/pending-work.ts';
import type { Store } from '../../store/store.ts';
import type { Announcement } from '../../store/streams/changes-stream.ts';
import type { BatchChanges } from '../batch/batch-changes.ts';
import type { Turn } from '../batch/turn.ts';
import { DeferredOutputs, type OpenCalls } from './deferred-outputs.ts';
import { RebuildQueue, type Waiting } from './rebuild-queue.ts';

const noNames: ReadonlySet<string> = new Set();

interface SettledBatch {
  readonly turns: readonly Turn[];
  readonly changes: Pick<BatchChanges, 'deferred' | 'writes'>;
}

/** The rebuilds of one portion. */
export interface TakenRebuilds {
  readonly rebuilds: readonly Waiting[];
  /** True if they were deferred, and are not in the queue of rebuilds. */
  readonly areDeferred: boolean;
}

export const noRebuilds: TakenRebuilds = { rebuilds: [], areDeferred: false };

export class PendingRebuilds {
  readonly queue = new RebuildQueue();
  readonly #deferred: DeferredOutputs;
  /** The queue and the deferred outputs take turns. */
  #isTurnOfDeferred = false;

  constructor(
    private readonly store: Store,
    private readonly tag: string,
    calls: OpenCalls,
  ) {
    this.#deferred = new DeferredOutputs(tag, calls);
  }

  /** Loads the state of the previous owner. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const left = [...(await readPendingRebuilds(this.store, this.tag))].sort(
      ([, a], [, b]) => a.first - b.first,
    );
    for (const [field, { first, last, cause }] of left) {
      const [tenant = '', ...dependent] = field.split('|');
      this.queue.add(tenant, dependent.join('|'), first, last, cause);
    }
    await this.#deferred.load(this.store);
  }

  /** Queues the rebuilds of a portion. @param writes of the commit with the portion */
  add({ works, invalidations }: IntakePortion, writes: PartitionWrites): void {
    const whole = invalidations.length === 0 ? noNames : new Set(works.map(nameOfWork));
    for (const { tenant, dependents, causes, sequence } of invalidations) {
      for (const [at, dependent] of dependents.entries()) {
        // A whole turn in this portion has seen the change that invalidated it.
        if (isWholeTurn(tenant, dependent, whole)) continue;
        const waiting = this.queue.add(tenant, dependent, sequence, sequence, causes[at] ?? null);
        writes.set(keys.pendingRebuilds(this.tag), fieldOf(waiting), encodePendingRebuild(waiting));
      }
    }
  }

  /** Takes the next rebuilds, for about `budgetMs` of expected work. */
  take(nowMs: number, budgetMs: number): TakenRebuilds {
    this.#isTurnOfDeferred = !this.#isTurnOfDeferred;
    const first = this.#takeOf(this.#isTurnOfDeferred, nowMs, budgetMs);
    return first.rebuilds.length > 0 ? first : this.#takeOf(!this.#isTurnOfDeferred, nowMs, budgetMs);
  }

  #takeOf(areDeferred: boolean, nowMs: number, budgetMs: number): TakenRebuilds {
    const rebuilds = areDeferred ? this.#takeDeferred(nowMs, budgetMs) : this.queue.take(nowMs, budgetMs);
    return { rebuilds, areDeferred };
  }

  /** Takes answered outputs first. */
  #takeDeferred(nowMs: number, budgetMs: number): Waiting[] {
    const answered = this.#deferred.takeAnswered();
    return answered.length > 0 ? answered : this.#deferred.take(nowMs, budgetMs);
  }

  /** Milliseconds until a rebuild may begin: 0 for now, null if none waits. */
  readyInMs(nowMs: number): number | null {
    const deferredMs = this.#deferred.readyInMs(nowMs);
    const queuedMs = this.queue.readyInMs(nowMs);
    if (deferredMs === null || queuedMs === null) return deferredMs ?? queuedMs;
    return Math.min(deferredMs, queuedMs);
  }

  /**
   * Records the outputs that a batch built and deferred, in the writes of its commit.
   * @param from sequence in the stream from which the batch may be the first to see changes
   */
  settle({ turns, changes }: SettledBatch, from: number, { rebuilds, areDeferred }: TakenRebuilds): void {
    this.#deferred.settle(turns, changes.deferred, from, rebuilds, changes.writes);
    if (areDeferred) return;
    for (const waiting of rebuilds) {
      changes.writes.delete(keys.pendingRebuilds(this.tag), fieldOf(waiting));
    }
  }

  /** Records the cost of a portion. */
  done({ rebuilds, areDeferred }: TakenRebuilds, nowMs: number, tookMs: number): void {
    const dependents = rebuilds.map(({ dependent }) => dependent);
    (areDeferred ? this.#deferred : this.queue).done(dependents, nowMs, tookMs);
  }

  /** The pending work that the commit announces. */
  get announced(): Pick<Announcement, 'pendingRebuilds' | 'deferred'> {
    const pendingRebuilds = this.queue.firstInvalidations();
    for (const [tenant, first] of this.#deferred.firstRebuild) {
      pendingRebuilds.set(tenant, Math.min(first, pendingRebuilds.get(tenant) ?? first));
    }
    return { pendingRebuilds, deferred: this.#deferred.firstAwaited };
  }
}

function isWholeTurn(tenant: string, dependent: string, whole: ReadonlySet<string>): boolean {
  const parsed = parseDependent(dependent);
  // A repair requires more than a whole turn.
  if (parsed?.kind === 'repair') return false;
  return parsed === null || whole.has(nameOfWork({ tenant, ...parsed }));
}

/** Field of `keys.pendingRebuilds`: the tenant, then the dependent. */
function fieldOf({ tenant, dependent }: Waiting): string {
  return `${tenant}|${dependent}`;
}
