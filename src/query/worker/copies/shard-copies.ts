/**
 * The copies of shards in a worker: of one group of partitions and, while the division changes, also of the previous group until
 * the workers can answer by the new division. So queries always find a complete set of shards.
 */
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../../config/configuration.ts';
import { heartbeatLostMs, regroupMs } from '../../../contract/limits.ts';
import { repeat } from '../../../lib/repeat.ts';
import type { CopiesBeat } from '../../../store/processes/process-messages.ts';
import { liveProcesses } from '../../../store/processes/registry.ts';
import { StoreUnavailableError } from '../../../store/redis/redis-errors.ts';
import { openStreamSource, type StreamSource } from '../../../store/streams/shared-streams.ts';
import { formatGroup, parseGroup } from '../../protocol/shard-request.ts';
import type { AnsweringShards, ShardState } from '../shard-state.ts';
import type { OpenSnapshots } from '../snapshots/shard-snapshots.ts';
import { type CopyContext, ShardCopy } from './shard-copy.ts';

const pollMs = 500;
const leavePollMs = 50;

export interface ShardCopiesOptions extends Omit<CopyContext, 'streams' | 'snapshots'> {
  /** Id of the worker, as in its heartbeat. */
  readonly workerId: string;
  /** Number of workers that hold each partition. */
  readonly copies: number;
  /** Null before the first `reconfigure`. */
  readonly configuration: Configuration | null;
  /** Absent or null for no snapshots. */
  readonly openSnapshots?: OpenSnapshots | null;
}

interface OtherWorker extends CopiesBeat {
  readonly id: string;
}

export class ShardCopies implements AnsweringShards {
  readonly #streams: StreamSource;
  /** Copies by the name of their group. */
  readonly #copies = new Map<string, ShardCopy>();
  readonly #listeners: (() => void)[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #configuration: Configuration | null;
  /** The group that this worker has to hold; null before the first poll. */
  #group: string | null = null;
  /** Number of groups of the division. */
  #groups: number | null = null;
  /** Since when there are too few workers for this many groups; null if there are enough. */
  #tooFewSinceMs: number | null = null;

  constructor(private readonly options: ShardCopiesOptions) {
    this.#streams = openStreamSource(options.store);
    this.#configuration = options.configuration;
  }

  start(): void {
    this.#running = repeat(() => this.#poll(), {
      pauseMs: pollMs,
      signal: this.#stop.signal,
      onError: (error) => {
        // A lost connection to Redis is reported elsewhere.
        if (!(error instanceof StoreUnavailableError))
          this.options.onError('shard copies stay unchanged', error);
      },
    });
  }

  /** @param endsMs deadline for writing snapshots, on the clock of `performance.now()`; absent for none */
  async close(endsMs = 0): Promise<void> {
    this.#stop.abort();
    await this.#running;
    for (const copy of this.#copies.values()) await copy.keep(endsMs);
    for (const copy of this.#copies.values()) copy.close();
    this.#streams.close();
  }

  /**
   * Waits while another worker is loading the group of this one and no other can answer for it. So workers can be restarted
   * without pauses in between.
   */
  async untilReplaced(timeoutMs: number): Promise<void> {
    const endsMs = performance.now() + timeoutMs;
    const group = this.#group;
    while (group !== null && this.#copies.get(group)?.isReady && performance.now() < endsMs) {
      const holders = (await this.#others().catch(() => [])).filter((other) => other.group === group);
      if (holders.length === 0 || holders.some(({ ready }) => ready.includes(group))) return;
      await setTimeout(leavePollMs);
    }
  }

  stateFor(group: string | undefined): ShardState | null {
    const copy = group === undefined ? undefined : this.#copies.get(group);
    return copy?.isReady ? copy.state() : null;
  }

  onProgress(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** State for the heartbeat; null before the first poll. */
  get beat(): CopiesBeat | null {
    return this.#group === null ? null : { group: this.#group, ready: this.#ready };
  }

  /** Descriptions of the loads that must finish before this worker can answer for its group. */
  get waitingFor(): string[] {
    const copy = this.#group === null ? undefined : this.#copies.get(this.#group);
    if (copy === undefined) return ['its group of partitions'];
    return copy.isReady ? [] : copy.shards.held.waitingFor;
  }

  /** Number of partitions with copies here. */
  get partitions(): number {
    return new Set([...this.#copies.values()].flatMap(({ partitions }) => partitions)).size;
  }

  /** Sum of `ShardCopy.commitsBehind`. */
  get commitsBehind(): number {
    return [...this.#copies.values()].reduce((sum, copy) => sum + copy.commitsBehind, 0);
  }

  /** @throws an error if an index cannot be built */
  async reconfigure(configuration: Configuration): Promise<void> {
    this.#configuration = configuration;
    await Promise.all([...this.#copies.values()].map((copy) => copy.shards.reconfigure(configuration)));
  }

  get #ready(): string[] {
    return [...this.#copies].flatMap(([name, copy]) => (copy.isReady ? [name] : [])).sort();
  }

  /** The other live workers with copies. @throws StoreUnavailableError */
  async #others(): Promise<OtherWorker[]> {
    const processes = await liveProcesses(this.options.store);
    return processes.flatMap(({ id, shardCopies }) =>
      shardCopies === undefined || id === this.options.workerId ? [] : [{ id, ...shardCopies }],
    );
  }

  /**
   * Determines this worker's group among the live workers, and loads and drops copies accordingly.
   * @throws StoreUnavailableError
   */
  async #poll(): Promise<void> {
    const { workerId, copies } = this.options;
    const others = await this.#others();
    if (this.#stop.signal.aborted) return;
    const groups = this.#groupsAmong(others, copies);
    const holders = [...others, { id: workerId, group: this.#group }];
    this.#group = formatGroup({ index: groupIndexOf(workerId, holders, groups), of: groups });
    if (!this.#copies.has(this.#group)) this.#hold(this.#group);
    for (const [name, copy] of this.#copies) {
      if (name !== this.#group && this.#isRedundant(name, copy, groups, others)) this.#drop(name, copy);
    }
  }

  /**
   * With fewer groups, each worker holds more. A restart must not cause that, so the number is reduced only when a worker is
   * away for `regroupMs`, or for `heartbeatLostMs` if there are fewer workers than groups.
   */
  #groupsAmong(others: readonly OtherWorker[], copies: number): number {
    const workers = others.length + 1;
    const wanted = groupCountFor(workers, copies, this.options.store.partitions.count);
    const nowMs = performance.now();
    this.#groups ??= Math.max(wanted, ...others.map(({ group }) => parseGroup(group)?.of ?? 1));
    if (wanted >= this.#groups) this.#tooFewSinceMs = null;
    else this.#tooFewSinceMs ??= nowMs;
    const graceMs = workers < this.#groups ? heartbeatLostMs : regroupMs;
    const isGraceOver = this.#tooFewSinceMs !== null && nowMs - this.#tooFewSinceMs >= graceMs;
    if (wanted > this.#groups || isGraceOver) {
      this.#groups = wanted;
      this.#tooFewSinceMs = null;
    }
    return this.#groups;
  }

  #hold(name: string): void {
    const group = parseGroup(name);
    if (group === null) throw new TypeError(`${name} is not a group`);
    const { store, autoFields, openSnapshots = null, onError } = this.options;
    const snapshots = openSnapshots?.(`group ${name}`) ?? null;
    const context = { store, streams: this.#streams, autoFields, snapshots, onError };
    const copy = new ShardCopy(context, group, this.#configuration);
    copy.shards.onProgress(() => {
      for (const listener of this.#listeners) listener();
    });
    this.#copies.set(name, copy);
    copy.start();
  }

  #drop(name: string, copy: ShardCopy): void {
    this.#copies.delete(name);
    copy.close();
  }

  /** True if queries can be answered without that copy. */
  #isRedundant(name: string, copy: ShardCopy, groups: number, others: readonly OtherWorker[]): boolean {
    if (!copy.isReady) return true;
    const ready = new Set(others.flatMap((other) => other.ready));
    if (parseGroup(name)?.of === groups) return ready.has(name);
    for (const own of this.#ready) ready.add(own);
    for (let index = 0; index < groups; index += 1) {
      if (!ready.has(formatGroup({ index, of: groups }))) return false;
    }
    return true;
  }
}

/**
 * A worker as input of the assignment of groups. Every worker computes the assignment from the heartbeats of all, without a
 * leader. Different views of the heartbeats only affect which worker loads which group, never the answers.
 */
export interface CopyHolder {
  readonly id: string;
  /** The group in its heartbeat; null if it is not decided yet. */
  readonly group: string | null;
}

/** The largest number of groups that leaves `copies` workers for each; 1 if there are fewer workers than copies. */
export function groupCountFor(workers: number, copies: number, partitionCount: number): number {
  return Math.min(partitionCount, Math.max(1, Math.floor(workers / copies)));
}

/**
 * The index of a worker's group. The numbers of workers per group differ by at most one, and as few workers as possible change
 * their group.
 * @param holders all live workers with copies, this one included
 */
export function groupIndexOf(workerId: string, holders: readonly CopyHolder[], groups: number): number {
  const sorted = [...holders].sort((a, b) => (a.id < b.id ? -1 : 1));
  const least = Math.floor(sorted.length / groups);
  // Groups that can still get one worker more than `least`.
  let largerGroupsLeft = sorted.length % groups;
  const counts = new Array<number>(groups).fill(0);
  const assigned = new Map<string, number>();
  const tryAssign = (id: string, index: number) => {
    const count = counts[index] ?? 0;
    if (count > least || (count === least && largerGroupsLeft === 0)) return;
    if (count === least) largerGroupsLeft -= 1;
    counts[index] = count + 1;
    assigned.set(id, index);
  };
  for (const { id, group } of sorted) {
    const held = group === null ? null : parseGroup(group);
    if (held?.of === groups) tryAssign(id, held.index);
  }
  for (const { id } of sorted) {
    if (!assigned.has(id)) tryAssign(id, counts.indexOf(Math.min(...counts)));
  }
  return assigned.get(workerId) ?? 0;
}
