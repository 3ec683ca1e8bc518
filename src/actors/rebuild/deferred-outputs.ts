/**
 * The deferred outputs of a partition, which a batch did not build. Tenants take turns. For each tenant, a limited number of
 * outputs has running code (`batch/code-runs.ts`). Outputs that wait for a lookup index are built by the rebuild that fills it.
 */
import { parseDependent } from '../../store/derived/dependents.ts';
import { keys } from '../../store/keys.ts';
import type { PartitionWrites } from '../../store/partitions/commit.ts';
import { nameOfWork } from '../../store/partitions/intake.ts';
import { type DeferredState, encodeDeferred, readDeferred } from '../../store/partitions/pending-work.ts';
import type { Store } from '../../store/store.ts';
import type { DeferredOutput } from '../batch/batch-changes.ts';
import type { Turn } from '../batch/turn.ts';
import { RebuildQueue, type Waiting } from './rebuild-queue.ts';

/** The sequences of the entries of one tenant. */
interface Sequences {
  readonly byName: Map<string, number>;
  /** Null if the entry with the lowest sequence was removed and the minimum must be recomputed. */
  lowest: number | null;
}

/** Tracks the lowest sequence of each tenant's entries. */
class LowestSequences {
  readonly #tenants = new Map<string, Sequences>();

  get all(): ReadonlyMap<string, number> {
    const all = new Map<string, number>();
    for (const [tenant, sequences] of this.#tenants) {
      sequences.lowest ??= lowestOf(sequences.byName.values());
      all.set(tenant, sequences.lowest);
    }
    return all;
  }

  add(tenant: string, name: string, sequence: number): void {
    this.remove(tenant, name);
    const sequences: Sequences = this.#tenants.get(tenant) ?? { byName: new Map(), lowest: sequence };
    this.#tenants.set(tenant, sequences);
    sequences.byName.set(name, sequence);
    if (sequences.lowest !== null) sequences.lowest = Math.min(sequences.lowest, sequence);
  }

  remove(tenant: string, name: string): void {
    const sequences = this.#tenants.get(tenant);
    const sequence = sequences?.byName.get(name);
    if (sequences === undefined || sequence === undefined) return;
    sequences.byName.delete(name);
    if (sequences.byName.size === 0) this.#tenants.delete(tenant);
    else if (sequences.lowest === sequence) sequences.lowest = null;
  }
}

/** In a loop, because there may be too many for the arguments of `Math.min`. */
function lowestOf(sequences: Iterable<number>): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const sequence of sequences) lowest = Math.min(lowest, sequence);
  return lowest;
}

/** Maximum number of answered outputs in a portion. */
const answeredPerPortion = 50;

/** The state of running calls, which `CodeRuns` implements. Names are fields of `keys.deferred`. */
export interface OpenCalls {
  isOpen(name: string): boolean;
  isAnswered(name: string): boolean;
  hasRoom(tenant: string): boolean;
  forget(name: string): void;
}

interface Entry extends DeferredState {
  readonly tenant: string;
  readonly dependent: string;
}

export class DeferredOutputs {
  /** Entity -> name -> entry. */
  readonly #byEntity = new Map<string, Map<string, Entry>>();
  /** Outputs that wait for their turn to run code, or to look up entities. */
  readonly #idle = { code: new RebuildQueue(), time: new RebuildQueue() };
  #isTurnOfCode = false;
  /** Outputs whose calls are running or answered. */
  readonly #open = new Map<string, Entry>();
  /** Outputs that reads with a version wait for, and outputs that count as pending rebuilds. */
  readonly #awaited = new LowestSequences();
  readonly #ofTurns = new LowestSequences();

  constructor(
    private readonly tag: string,
    private readonly calls: OpenCalls,
  ) {}

  /** Loads the state of the previous owner. @throws StoreUnavailableError */
  async load(store: Store): Promise<void> {
    for (const [name, state] of await readDeferred(store, this.tag)) {
      this.#put(name, { ...state, ...namedBy(name) });
    }
  }

  /** Tenant -> lowest sequence of deferred outputs that a read with a version waits for. */
  get firstAwaited(): ReadonlyMap<string, number> {
    return this.#awaited.all;
  }

  /**
   * Tenant -> lowest sequence of deferred outputs that count as pending rebuilds: all except those waiting for a lookup index.
   */
  get firstRebuild(): ReadonlyMap<string, number> {
    return this.#ofTurns.all;
  }

  /** Takes outputs whose calls are all answered. */
  takeAnswered(): Waiting[] {
    const taken: Waiting[] = [];
    for (const [name, entry] of this.#open) {
      if (taken.length === answeredPerPortion) break;
      if (this.calls.isAnswered(name)) taken.push(entry);
    }
    for (const one of taken) this.#open.delete(nameOf(one));
    return taken;
  }

  /** Takes outputs of the tenant whose turn it is. */
  take(nowMs: number, budgetMs: number): Waiting[] {
    this.#isTurnOfCode = !this.#isTurnOfCode;
    const first = this.#takeOf(this.#isTurnOfCode, nowMs, budgetMs);
    return first.length > 0 ? first : this.#takeOf(!this.#isTurnOfCode, nowMs, budgetMs);
  }

  #takeOf(isOfCode: boolean, nowMs: number, budgetMs: number): Waiting[] {
    const { code, time } = this.#idle;
    return isOfCode ? code.take(nowMs, budgetMs, this.#hasRoom) : time.take(nowMs, budgetMs);
  }

  /** Milliseconds until an output may be taken: 0 for now, null if none is only waiting for time. */
  readyInMs(nowMs: number): number | null {
    for (const name of this.#open.keys()) if (this.calls.isAnswered(name)) return 0;
    const codeMs = this.#idle.code.readyInMs(nowMs, this.#hasRoom);
    const timeMs = this.#idle.time.readyInMs(nowMs);
    if (codeMs === null || timeMs === null) return codeMs ?? timeMs;
    return Math.min(codeMs, timeMs);
  }

  readonly #hasRoom = (tenant: string) => this.calls.hasRoom(tenant);

  /** Records the cost of a portion, which determines the size of the next. */
  done(dependents: readonly string[], nowMs: number, tookMs: number): void {
    this.#idle.code.done(dependents, nowMs, tookMs);
    this.#idle.time.done(dependents, nowMs, tookMs);
  }

  /**
   * Records the outputs that a batch built and deferred.
   * @param from sequence in the stream from which the batch may be the first to see changes
   * @param taken outputs that it was to build
   * @param writes of its commit
   */
  settle(
    turns: readonly Turn[],
    deferred: readonly DeferredOutput[],
    from: number,
    taken: readonly Waiting[],
    writes: PartitionWrites,
  ): void {
    if (this.#byEntity.size === 0 && deferred.length === 0) return;
    const before = new Map(taken.map((one) => [nameOf(one), one]));
    const again = new Set(deferred.map(nameOf));
    for (const turn of turns) {
      for (const [name, entry] of this.#byEntity.get(nameOfWork(turn)) ?? []) {
        if (!again.has(name) && (before.has(name) || isCovered(turn, entry))) this.#remove(name, writes);
      }
    }
    for (const one of deferred) {
      const name = nameOf(one);
      const asked = before.get(name);
      const known = this.#entryOf(name, one);
      const isAwaited = one.isAwaited || known?.isAwaited === true;
      // Outputs that only wait for an index because of the configuration are found by the rebuild that fills the index.
      if (one.reason === 'index' && !isAwaited) {
        this.#remove(name, writes);
        continue;
      }
      const cause = one.cause ?? known?.cause ?? null;
      const entry: Entry = {
        tenant: one.tenant,
        dependent: one.dependent,
        reason: one.reason,
        cause,
        isAwaited,
        first: Math.min(known?.first ?? from, asked?.first ?? from),
        last: Math.max(known?.last ?? from, asked?.last ?? from),
      };
      this.#forget(name, entry);
      this.#put(name, entry);
      writes.set(keys.deferred(this.tag), name, encodeDeferred(entry));
    }
    // Drop the outputs of turns that failed because of a bug, so that they are not retried forever.
    for (const name of before.keys()) if (!again.has(name)) this.#remove(name, writes);
  }

  #put(name: string, entry: Entry): void {
    const entity = entityOf(entry);
    const ofEntity = this.#byEntity.get(entity) ?? new Map<string, Entry>();
    this.#byEntity.set(entity, ofEntity);
    ofEntity.set(name, entry);
    const { tenant, dependent, first, last, cause } = entry;
    if (entry.isAwaited) this.#awaited.add(tenant, name, first);
    if (entry.reason === 'index') return;
    this.#ofTurns.add(tenant, name, first);
    if (this.calls.isOpen(name)) this.#open.set(name, entry);
    else this.#idle[entry.reason].add(tenant, dependent, first, last, cause);
  }

  #remove(name: string, writes: PartitionWrites): void {
    const entry = this.#entryOf(name);
    if (entry === null) return;
    this.#forget(name, entry);
    this.calls.forget(name);
    writes.delete(keys.deferred(this.tag), name);
  }

  #forget(name: string, entry: Entry): void {
    const entity = entityOf(entry);
    const ofEntity = this.#byEntity.get(entity);
    ofEntity?.delete(name);
    if (ofEntity?.size === 0) this.#byEntity.delete(entity);
    this.#open.delete(name);
    this.#idle.code.remove(entry.tenant, entry.dependent);
    this.#idle.time.remove(entry.tenant, entry.dependent);
    this.#awaited.remove(entry.tenant, name);
    this.#ofTurns.remove(entry.tenant, name);
  }

  #entryOf(name: string, named = namedBy(name)): Entry | null {
    return this.#byEntity.get(entityOf(named))?.get(name) ?? null;
  }
}

/** True if the turn has built or removed the output. */
function isCovered(turn: Turn, { dependent }: Entry): boolean {
  if (turn.entity === null) return true;
  if (parseDependent(dependent)?.kind === 'actions') return turn.isChange || turn.actions.has(dependent);
  return turn.only === null || turn.only.has(dependent);
}

function nameOf({ tenant, dependent }: Pick<Waiting, 'tenant' | 'dependent'>): string {
  return `${tenant}|${dependent}`;
}

function namedBy(name: string): Pick<Entry, 'tenant' | 'dependent'> {
  const [tenant = '', ...rest] = name.split('|');
  return { tenant, dependent: rest.join('|') };
}

function entityOf({ tenant, dependent }: Pick<Entry, 'tenant' | 'dependent'>): string {
  const parsed = parseDependent(dependent);
  return parsed === null ? dependent : nameOfWork({ tenant, ...parsed });
}
