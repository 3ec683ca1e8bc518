/**
 * The copies of shards that a worker holds: of one group of partitions, and while the groups change, also of the one before,
 * until the workers can answer by the new ones. So there is no moment at which a query finds no complete set of shards.
 */
import { setTimeout } from 'node:timers/promises';
import type { Configuration } from '../../../config/configuration.ts';
import { heartbeatLostMs, regroupMs } from '../../../contract/limits.ts';
import { repeat } from '../../../lib/repeat.ts';
import type { CopiesBeat } from '../../../store/processes/process-messages.ts';
import { liveProcesses } from '../../../store/processes/registry.ts';
import { StoreUnavailableError } from '../../../store/redis/redis-errors.ts';
import { openStreamSource, type StreamSource } from '../../../store/streams/shared-streams.ts';
import { formatGroup, parseGroup } from '../../protocol/partition-group.ts';
import type { AnsweringShards, ShardState } from '../shard-state.ts';
import type { OpenSnapshots } from '../snapshots/shard-snapshots.ts';
import { type CopyContext, ShardCopy } from './shard-copy.ts';

const tickMs = 500;
const leavePollMs = 50;

export interface ShardCopiesOptions extends Omit<CopyContext, 'streams' | 'snapshots'> {
  /** Id of the worker, as in its heartbeat. */
  readonly workerId: string;
  /** Workers that shall hold each partition. */
  readonly copies: number;
  /** Null before the first `reconfigure`. */
  readonly configuration: Configuration | null;
  /** Absent or null: it keeps no snapshots. */
  readonly openSnapshots?: OpenSnapshots | null;
}

interface OtherWorker extends CopiesBeat {
  readonly id: string;
}

export class ShardCopies implements AnsweringShards {
  readonly #streams: StreamSource;
  /** By the name of their group. */
  readonly #copies = new Map<string, ShardCopy>();
  readonly #listeners: (() => void)[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #configuration: Configuration | null;
  /** The group that it is to hold; null before it knows the others. */
  #group: string | null = null;
  /** Groups that all partitions are divided into. */
  #groups: number | null = null;
  /** Since when there are too few workers for so many groups; null: there are enough. */
  #tooFewSinceMs: number | null = null;

  constructor(private readonly options: ShardCopiesOptions) {
    this.#streams = openStreamSource(options.store);
    this.#configuration = options.configuration;
  }

  start(): void {
    this.#running = repeat(() => this.#look(), {
      pauseMs: tickMs,
      signal: this.#stop.signal,
      onError: (error) => {
        // The watch over the connection reports a lost Redis once.
        if (!(error instanceof StoreUnavailableError))
          this.options.onTrouble('shard copies stay unchanged', error);
      },
    });
  }

  /** @param endsMs until when snapshots may be written, on the clock of `performance.now()`; absent: none are */
  async close(endsMs = 0): Promise<void> {
    this.#stop.abort();
    await this.#running;
    for (const copy of this.#copies.values()) await copy.keep(endsMs);
    for (const copy of this.#copies.values()) copy.close();
    this.#streams.close();
  }

  /**
   * Waits while another worker loads the group of this one, and nobody else can answer for it. So workers may be restarted one
   * right after the other. @param timeoutMs the most
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

  /** For the heartbeat; null until it knows the others. */
  get beat(): CopiesBeat | null {
    return this.#group === null ? null : { group: this.#group, ready: this.#ready };
  }

  /** Loads that it still needs before it can answer for its group, in words. */
  get waitingFor(): string[] {
    const copy = this.#group === null ? undefined : this.#copies.get(this.#group);
    if (copy === undefined) return ['its group of partitions'];
    return copy.isReady ? [] : copy.shards.waitingFor;
  }

  /** Partitions that it holds copies of. */
  get partitions(): number {
    return new Set([...this.#copies.values()].flatMap(({ partitions }) => partitions)).size;
  }

  /** See `ShardCopy`. */
  get commitsBehind(): number {
    return [...this.#copies.values()].reduce((sum, copy) => sum + copy.commitsBehind, 0);
  }

  /** @throws what an index that cannot be built throws */
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

  /** Looks which workers live, and holds the group that is its own among them. @throws StoreUnavailableError */
  async #look(): Promise<void> {
    const { workerId, copies } = this.options;
    const others = await this.#others();
    if (this.#stop.signal.aborted) return;
    const groups = this.#groupsAmong(others, copies);
    const holders = [...others, { id: workerId, group: this.#group }];
    this.#group = formatGroup({ index: placeOf(workerId, holders, groups), of: groups });
    if (!this.#copies.has(this.#group)) this.#hold(this.#group);
    for (const [name, copy] of this.#copies) {
      if (name !== this.#group && this.#isSpare(name, copy, groups, others)) this.#drop(name, copy);
    }
  }

  /**
   * Fewer groups mean that each worker holds more. A worker that is restarted must not cause that, so it begins only when a
   * worker is away for `regroupMs`, or for less when a group has no worker left.
   */
  #groupsAmong(others: readonly OtherWorker[], copies: number): number {
    const workers = others.length + 1;
    const wanted = groupsFor(workers, copies, this.options.store.partitions.count);
    const nowMs = performance.now();
    this.#groups ??= Math.max(wanted, ...others.map(({ group }) => parseGroup(group)?.of ?? 1));
    if (wanted >= this.#groups) this.#tooFewSinceMs = null;
    else this.#tooFewSinceMs ??= nowMs;
    const patienceMs = workers < this.#groups ? heartbeatLostMs : regroupMs;
    const isOver = this.#tooFewSinceMs !== null && nowMs - this.#tooFewSinceMs >= patienceMs;
    if (wanted > this.#groups || isOver) {
      this.#groups = wanted;
      this.#tooFewSinceMs = null;
    }
    return this.#groups;
  }

  #hold(name: string): void {
    const group = parseGroup(name);
    if (group === null) throw new TypeError(`${name} is not a group`);
    const { store, autoFields, openSnapshots = null, onTrouble } = this.options;
    const snapshots = openSnapshots?.(`group ${name}`) ?? null;
    const context = { store, streams: this.#streams, autoFields, snapshots, onTrouble };
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

  /** True when queries are answered without that copy, whatever becomes of this worker's other ones. */
  #isSpare(name: string, copy: ShardCopy, groups: number, others: readonly OtherWorker[]): boolean {
    if (!copy.isReady) return true;
    const ready = new Set(others.flatMap((other) => other.ready));
    if (parseGroup(name)?.of === groups) return ready.has(name);
    for (const own of this.#ready) ready.add(own);
    return Array.from({ length: groups }, (_, index) => formatGroup({ index, of: groups })).every((group) =>
      ready.has(group),
    );
  }
}

/**
 * Which group of partitions each worker holds. Every worker applies this to what it hears of the others, and no one leads:
 * what they knew of each other in between decides only who loads what, never what is answered. Pure.
 */
export interface CopyHolder {
  readonly id: string;
  /** The group that it says it is to hold; null: not decided yet. */
  readonly group: string | null;
}

/** Most groups of which each has as many workers as there shall be copies; one when there are fewer workers than copies. */
export function groupsFor(workers: number, copies: number, partitionCount: number): number {
  return Math.min(partitionCount, Math.max(1, Math.floor(workers / copies)));
}

/**
 * The index of a worker's group. Groups have equally many workers, or one more; as few workers as possible change theirs.
 * @param holders all live workers with copies, this one included
 */
export function placeOf(workerId: string, holders: readonly CopyHolder[], groups: number): number {
  const sorted = [...holders].sort((a, b) => (a.id < b.id ? -1 : 1));
  const least = Math.floor(sorted.length / groups);
  let larger = sorted.length % groups;
  const counts = new Array<number>(groups).fill(0);
  const placed = new Map<string, number>();
  const place = (id: string, index: number) => {
    const count = counts[index] ?? 0;
    if (count > least || (count === least && larger === 0)) return;
    if (count === least) larger -= 1;
    counts[index] = count + 1;
    placed.set(id, index);
  };
  for (const { id, group } of sorted) {
    const held = group === null ? null : parseGroup(group);
    if (held?.of === groups) place(id, held.index);
  }
  for (const { id } of sorted) {
    if (!placed.has(id)) place(id, counts.indexOf(Math.min(...counts)));
  }
  return placed.get(workerId) ?? 0;
}
