/**
 * How far every partition has come, as a front sees it: the ground of "read your own writes".
 *
 * A write is visible once its partition's checkpoint has passed it and every rebuild that it caused is done. Invalidations
 * are entries of the streams themselves, so both are comparisons of sequence numbers.
 */

import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { type DownstreamInvalidation, downstreamField } from '../partitions/announcement.ts';
import type { Store } from '../store.ts';
import { type Change, ChangesFollower } from '../streams/changes.ts';
import { openStreamSource, type StreamSource } from '../streams/shared-streams.ts';
import type { HighWaterMark } from './high-water-mark.ts';
import { UnseenWrites } from './unseen-writes.ts';
import type { VersionVector } from './version.ts';

/** Called for every partition's changes in order; null after a gap, when anything may have changed. */
export type ChangeListener = (partition: number, digests: readonly string[] | null) => void;

/**
 * Called when a partition has come further. @param last sequence of its last entry, where that was read anew: a Redis that
 * comes back without its last writes has forgotten what lay behind it; else null
 */
export type PlaceListener = (partition: number, checkpoint: number, last: number | null) => void;

/** The partitions that a write reached commit within some milliseconds: this long they are gathered. */
const gatherMs = 3;

interface PartitionProgress {
  known: boolean;
  checkpoint: number;
  /** Sequence of the last change that the listeners were told of. */
  heard: number;
  /** Number of the last commit seen. */
  commits: number;
  /** Last stream entry known to exist, from the snapshot and from our own writes. */
  announced: number;
  /** Tenant -> first invalidation whose rebuild is pending. */
  pendingRebuilds: ReadonlyMap<string, number>;
  /** `downstreamField` -> last invalidation that changes of this partition sent there. */
  downstream: Map<string, number>;
}

interface Waiter {
  readonly tenant: string;
  /** Entries to pass. */
  readonly writes: Map<number, number>;
  /** Invalidations to have rebuilt, learnt when the writes were passed. */
  readonly invalidations: Map<number, number>;
  readonly done: () => void;
}

const noHighWaterMark = Promise.resolve(null);

export class Progress {
  readonly #store: Store;
  readonly #source: StreamSource;
  readonly #partitions: PartitionProgress[];
  readonly #followers: ChangesFollower[];
  readonly #waiters = new Set<Waiter>();
  /** Called whenever something was heard. */
  readonly #hearing = new Set<() => void>();
  readonly #listeners: ChangeListener[] = [];
  readonly #placeListeners: PlaceListener[] = [];
  /** See `commits`; null since one of them has changed. */
  #commits: readonly number[] | null = null;
  #catchingUp: Promise<HighWaterMark | null> | null = null;
  readonly #unseen = new UnseenWrites((...write) => this.#isSeen(...write));

  constructor(store: Store) {
    this.#store = store;
    this.#source = openStreamSource(store, gatherMs);
    this.#partitions = store.partitions.tags.map(() => ({
      known: false,
      checkpoint: 0,
      heard: 0,
      commits: 0,
      announced: 0,
      pendingRebuilds: new Map(),
      downstream: new Map(),
    }));
    const listener = {
      onChanges: (partition: number, changes: readonly Change[]) => this.#apply(partition, changes),
      onLost: (partition: number) => this.#forget(partition),
      onGap: (partition: number, place: number) => this.#load(partition, place),
    };
    this.#followers = store.partitions.tags.map(
      (_, partition) => new ChangesFollower(store, this.#source, partition, listener),
    );
  }

  start(): void {
    for (const follower of this.#followers) void follower.run();
  }

  close(): void {
    for (const follower of this.#followers) follower.close();
    this.#source.close();
  }

  /** True once the state of every partition is known. */
  get ready(): boolean {
    return this.#partitions.every(({ known }) => known);
  }

  /**
   * Number of the last commit seen of each partition: what an index shard must have applied to be as new. The same list
   * until one of them changes.
   */
  get commits(): readonly number[] {
    this.#commits ??= this.#partitions.map(({ commits }) => commits);
    return this.#commits;
  }

  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  onPlace(listener: PlaceListener): void {
    this.#placeListeners.push(listener);
  }

  /**
   * Tells of entries that this process has written, so that `backlogs` knows them before they are done.
   * @returns the version that stands for them, and for what this process wrote for the tenant before
   */
  noteWritten(tenant: string, version: VersionVector): VersionVector {
    for (const [partition, sequence] of version) {
      const progress = this.#partitions[partition];
      if (progress !== undefined) progress.announced = Math.max(progress.announced, sequence);
    }
    return this.#unseen.add(tenant, version);
  }

  /** Stream entries that wait, by partition. */
  backlogs(): number[] {
    return this.#partitions.map(({ announced, checkpoint }) => Math.max(0, announced - checkpoint));
  }

  /** True when the version is visible by now, with everything that was rebuilt because of it. */
  isVisible(tenant: string, version: VersionVector): boolean {
    for (const [partition, sequence] of version) {
      if (!this.#isSeen(tenant, partition, sequence)) return false;
    }
    return true;
  }

  #isSeen(tenant: string, partition: number, sequence: number): boolean {
    const progress = this.#partitions[partition];
    if (progress === undefined) return true;
    if (!progress.known || progress.checkpoint < sequence) return false;
    return progress.downstream.size === 0 || this.#isRebuilt(tenant, progress.downstream);
  }

  #isRebuilt(tenant: string, downstream: ReadonlyMap<string, number>): boolean {
    for (let target = 0; target < this.#partitions.length; target += 1) {
      const invalidation = downstream.get(downstreamField(tenant, target));
      if (invalidation !== undefined && this.#rebuiltUpTo(target, tenant) < invalidation) return false;
    }
    return true;
  }

  /** True when the version is visible before the time is over, with everything that was rebuilt because of it. */
  waitFor(tenant: string, version: VersionVector, timeoutMs: number): Promise<boolean> {
    if (this.isVisible(tenant, version)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(false), timeoutMs);
      const waiter: Waiter = {
        tenant,
        writes: new Map([...version].filter(([partition]) => partition < this.#partitions.length)),
        invalidations: new Map(),
        done: () => finish(true),
      };
      const finish = (visible: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(visible);
      };
      this.#waiters.add(waiter);
      this.#advance(waiter);
    });
  }

  /**
   * The high-water invalidation of everything that was asked of the store's `fields` until now, by hearing of it at once instead of asking
   * how far it is; null where that cannot be told. One look serves all who ask in one turn of the event loop.
   */
  catchUp(): Promise<HighWaterMark | null> {
    const { catchUp } = this.#source;
    if (catchUp === null) return noHighWaterMark;
    this.#catchingUp ??= new Promise((resolve) => {
      this.#store.fields.behind((send) => {
        this.#catchingUp = null;
        resolve(
          catchUp(send).then(
            (places) => places && this.#highWaterMarkOf(places),
            () => null,
          ),
        );
      });
    });
    return this.#catchingUp;
  }

  #highWaterMarkOf(places: ReadonlyMap<string, string>): HighWaterMark | null {
    if (places.size < this.#partitions.length) return null;
    const { tags } = this.#store.partitions;
    return new Map(
      tags.map((tag, partition) => [partition, Number.parseInt(places.get(keys.changes(tag)) ?? '0', 10)]),
    );
  }

  /** True when the listeners have been told of everything up to the high-water invalidation before the time is over. */
  waitUntilHeard(highWaterMark: HighWaterMark, timeoutMs: number): Promise<boolean> {
    return this.#waitUntil(() => this.#hasHeard(highWaterMark), timeoutMs);
  }

  /** As `waitUntilHeard`, of commits: partition -> number. */
  waitUntilCommits(commits: ReadonlyMap<number, number>, timeoutMs: number): Promise<boolean> {
    return this.#waitUntil(() => this.#hasCommits(commits), timeoutMs);
  }

  async #waitUntil(isHeard: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isHeard()) return true;
    return await new Promise((resolve) => {
      const finish = (heard: boolean) => {
        clearTimeout(timer);
        this.#hearing.delete(wait);
        resolve(heard);
      };
      const wait = () => {
        if (isHeard()) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#hearing.add(wait);
    });
  }

  #hasCommits(commits: ReadonlyMap<number, number>): boolean {
    for (const [partition, number] of commits) {
      if ((this.#partitions[partition]?.commits ?? 0) < number) return false;
    }
    return true;
  }

  #hasHeard(highWaterMark: HighWaterMark): boolean {
    for (const [partition, sequence] of highWaterMark) {
      if ((this.#partitions[partition]?.heard ?? 0) < sequence) return false;
    }
    return true;
  }

  #advance(waiter: Waiter): void {
    for (const [partition, sequence] of waiter.writes) {
      const progress = this.#partitions[partition];
      if (progress === undefined || !progress.known || progress.checkpoint < sequence) continue;
      waiter.writes.delete(partition);
      this.#addDownstream(waiter, progress);
    }
    for (const [partition, sequence] of waiter.invalidations) {
      if (this.#rebuiltUpTo(partition, waiter.tenant) >= sequence) waiter.invalidations.delete(partition);
    }
    if (waiter.writes.size === 0 && waiter.invalidations.size === 0) waiter.done();
  }

  #addDownstream(waiter: Waiter, progress: PartitionProgress): void {
    for (let target = 0; target < this.#partitions.length; target += 1) {
      const invalidation = progress.downstream.get(downstreamField(waiter.tenant, target));
      if (invalidation !== undefined)
        waiter.invalidations.set(target, Math.max(invalidation, waiter.invalidations.get(target) ?? 0));
    }
  }

  #rebuiltUpTo(partition: number, tenant: string): number {
    const progress = this.#partitions[partition];
    if (progress === undefined || !progress.known) return -1;
    const firstPending = progress.pendingRebuilds.get(tenant) ?? Number.POSITIVE_INFINITY;
    return Math.min(progress.checkpoint, firstPending - 1);
  }

  #apply(partition: number, changes: readonly Change[]): void {
    const progress = this.#partitions[partition];
    if (progress === undefined) return;
    for (const { commit } of changes) {
      // Older than the state that was loaded: it would turn the clock back.
      if (commit === null || commit.number <= progress.commits) continue;
      progress.commits = commit.number;
      this.#commits = null;
      progress.checkpoint = Math.max(progress.checkpoint, commit.announcement.checkpoint);
      progress.announced = Math.max(progress.announced, progress.checkpoint);
      progress.pendingRebuilds = commit.announcement.pendingRebuilds;
      for (const invalidation of commit.announcement.downstream) noteDownstream(progress, invalidation);
    }
    const digests = changes.flatMap((change) => change.digests);
    for (const listener of this.#listeners) listener(partition, digests);
    for (const listener of this.#placeListeners) listener(partition, progress.checkpoint, null);
    progress.heard = changes.at(-1)?.sequence ?? progress.heard;
    this.#wake();
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) this.#advance(waiter);
    for (const wait of [...this.#hearing]) wait();
  }

  /** What was visible before a failover may not be for a while after it: nothing is promised until it is known again. */
  #forget(partition: number): void {
    const progress = this.#partitions[partition];
    if (progress !== undefined) progress.known = false;
  }

  async #load(partition: number, place: number): Promise<void> {
    const tag = this.#store.partitions.tag(partition);
    const client = this.#store.client;
    const [owner, downstream, announced] = await Promise.all([
      client.hgetallBuffer(keys.owner(tag)),
      client.hgetall(keys.downstream(tag)),
      client.hget(keys.clock(tag), 'stream'),
    ]);
    const progress = this.#partitions[partition];
    if (progress === undefined) return;
    progress.checkpoint = Number(owner.checkpoint?.toString() ?? 0);
    progress.commits = Number(owner.commits?.toString() ?? 0);
    this.#commits = null;
    progress.announced = Number(announced ?? 0);
    this.#unseen.forgetBeyond(partition, progress.announced);
    progress.pendingRebuilds = new Map(
      owner.dirty === undefined ? [] : unpack<[string, number][]>(owner.dirty),
    );
    progress.downstream = new Map(
      Object.entries(downstream).map(([field, sequence]) => [field, Number(sequence)]),
    );
    progress.known = true;
    for (const listener of this.#listeners) listener(partition, null);
    for (const listener of this.#placeListeners) listener(partition, progress.checkpoint, progress.announced);
    progress.heard = place;
    this.#wake();
  }
}

function noteDownstream(
  progress: PartitionProgress,
  { tenant, partition, sequence }: DownstreamInvalidation,
): void {
  const field = downstreamField(tenant, partition);
  progress.downstream.set(field, Math.max(sequence, progress.downstream.get(field) ?? 0));
}
