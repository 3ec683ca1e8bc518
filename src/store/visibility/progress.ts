/**
 * The progress of all partitions as seen by a front. "Read your own writes" is based on it.
 *
 * A write is visible once its partition's checkpoint has passed it, all its outputs are built and all rebuilds that it caused
 * are done. Invalidations are stream entries, so these checks only compare sequence numbers.
 */
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import { type AnnouncedChange, ChangesFollower } from '../streams/changes-stream.ts';
import { openStreamSource, type StreamSource } from '../streams/shared-streams.ts';
import { PartitionProgress } from './partition-progress.ts';
import { type HighWaterMark, UnseenWrites, type Version, type VersionVector } from './version.ts';

/** Conditions that callers wait for. They are checked after every message. */
export class Conditions {
  readonly #open = new Set<() => void>();

  /**
   * @param isMet must be cheap, and may keep state
   * @returns false if it was not met in time
   */
  wait(isMet: () => boolean, timeoutMs: number): Promise<boolean> {
    if (isMet()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const finish = (met: boolean) => {
        clearTimeout(timer);
        this.#open.delete(look);
        resolve(met);
      };
      const look = () => {
        if (isMet()) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#open.add(look);
    });
  }

  /** Checks all conditions again after a message. */
  check(): void {
    for (const look of [...this.#open]) look();
  }
}

/** Called with the changes of each partition, in order; with null after a gap, when anything may have changed. */
export type ChangeListener = (partition: number, digests: readonly string[] | null) => void;

/**
 * Called when a partition has made progress.
 * @param last sequence of its last stream entry if the state was read again, otherwise null. Entries after it were lost, as
 * when Redis restarts without its last writes
 */
export type PlaceListener = (partition: number, checkpoint: number, last: number | null) => void;

/** How long to collect changes: the partitions that a write affects commit within a few milliseconds. */
const gatherMs = 3;

const noHighWaterMark = Promise.resolve(null);

export class Progress {
  readonly #store: Store;
  readonly #source: StreamSource;
  readonly #partitions: readonly PartitionProgress[];
  readonly #followers: readonly ChangesFollower[];
  readonly #conditions = new Conditions();
  readonly #listeners: ChangeListener[] = [];
  readonly #placeListeners: PlaceListener[] = [];
  /** See `commits`; null after one of them has changed. */
  #commits: readonly number[] | null = null;
  #catchingUp: Promise<HighWaterMark | null> | null = null;
  readonly #unseen = new UnseenWrites((...write) => this.#isSeen(...write));

  constructor(store: Store) {
    this.#store = store;
    this.#source = openStreamSource(store, gatherMs);
    this.#partitions = store.partitions.tags.map(() => new PartitionProgress());
    const listener = {
      onChanges: (partition: number, changes: readonly AnnouncedChange[]) => this.#apply(partition, changes),
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

  /** True if the state of every partition is known. */
  get ready(): boolean {
    return this.#partitions.every(({ known }) => known);
  }

  /**
   * Number of the last known commit of each partition, which an index shard must have applied to be up to date. Returns the
   * same array until one of them changes.
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
   * Records entries that this process has written, so that `backlogs` includes them.
   * @returns the version that covers them and earlier writes of this process for the tenant
   */
  recordWritten(tenant: string, version: VersionVector): VersionVector {
    for (const [partition, sequence] of version) {
      const progress = this.#partitions[partition];
      if (progress !== undefined) progress.announced = Math.max(progress.announced, sequence);
    }
    return this.#unseen.add(tenant, version);
  }

  /** Number of unprocessed stream entries, by partition. */
  backlogs(): number[] {
    return this.#partitions.map(({ backlog }) => backlog);
  }

  /** True if the version is visible, including the rebuilds that it caused. */
  isVisible(tenant: string, version: VersionVector): boolean {
    for (const [partition, sequence] of version) {
      if (!this.#isSeen(tenant, partition, sequence)) return false;
    }
    return true;
  }

  #isSeen(tenant: string, partition: number, sequence: number): boolean {
    const progress = this.#partitions[partition];
    if (progress === undefined) return true;
    if (!progress.hasPassed(sequence) || !progress.hasBuilt(tenant, sequence)) return false;
    return (
      !progress.hasDownstream ||
      this.#partitions.every((_, target) => {
        const invalidation = progress.sentTo(tenant, target);
        return invalidation === undefined || this.#isRebuilt(tenant, target, invalidation);
      })
    );
  }

  /** Like `waitFor`, for writes and announcements. */
  async waitForVersion(tenant: string, { writes, announced }: Version, timeoutMs: number): Promise<boolean> {
    const isHeard = this.waitUntilNotified(announced, timeoutMs);
    return (await this.waitFor(tenant, writes, timeoutMs)) && (await isHeard);
  }

  /** True if the version becomes visible in time, including the rebuilds that it caused. */
  waitFor(tenant: string, version: VersionVector, timeoutMs: number): Promise<boolean> {
    if (this.isVisible(tenant, version)) return Promise.resolve(true);
    const writes = new Map([...version].filter(([partition]) => partition < this.#partitions.length));
    return this.#conditions.wait(this.#becomesVisible(tenant, writes), timeoutMs);
  }

  /**
   * A condition that drops completed parts. The rebuilds of a write are known when it is processed, so later writes are not
   * waited for.
   * @param writes entries to wait for; will be emptied
   */
  #becomesVisible(tenant: string, writes: Map<number, number>): () => boolean {
    const invalidations = new Map<number, number>();
    const deferred = new Map<number, number>();
    return () => {
      for (const [partition, sequence] of writes) {
        const progress = this.#partitions[partition];
        if (!progress?.hasPassed(sequence)) continue;
        writes.delete(partition);
        deferred.set(partition, sequence);
        this.#addDownstream(tenant, progress, invalidations);
      }
      for (const [partition, sequence] of deferred) {
        if (this.#partitions[partition]?.hasBuilt(tenant, sequence)) deferred.delete(partition);
      }
      for (const [partition, sequence] of invalidations) {
        if (this.#isRebuilt(tenant, partition, sequence)) invalidations.delete(partition);
      }
      return writes.size === 0 && deferred.size === 0 && invalidations.size === 0;
    };
  }

  #addDownstream(tenant: string, progress: PartitionProgress, invalidations: Map<number, number>): void {
    for (let target = 0; target < this.#partitions.length; target += 1) {
      const sequence = progress.sentTo(tenant, target);
      if (sequence === undefined) continue;
      invalidations.set(target, Math.max(sequence, invalidations.get(target) ?? 0));
    }
  }

  #isRebuilt(tenant: string, partition: number, invalidation: number): boolean {
    return (this.#partitions[partition]?.rebuiltUpTo(tenant) ?? -1) >= invalidation;
  }

  /**
   * The high-water mark of everything requested from the store's `fields` so far. Determined by reading the changes themselves
   * instead of their numbers; null if that is not possible. One read serves all callers in a turn of the event loop.
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

  /** True if the listeners are notified of everything up to the high-water mark in time. */
  waitUntilNotified(mark: HighWaterMark, timeoutMs: number): Promise<boolean> {
    return this.#conditions.wait(() => this.#isPast(mark, ({ notified }) => notified), timeoutMs);
  }

  /** Like `waitUntilNotified`, for commits: partition -> number. */
  waitUntilCommits(commits: ReadonlyMap<number, number>, timeoutMs: number): Promise<boolean> {
    return this.#conditions.wait(() => this.#isPast(commits, (progress) => progress.commits), timeoutMs);
  }

  #isPast(places: ReadonlyMap<number, number>, placeOf: (progress: PartitionProgress) => number): boolean {
    for (const [partition, place] of places) {
      const progress = this.#partitions[partition];
      if ((progress === undefined ? 0 : placeOf(progress)) < place) return false;
    }
    return true;
  }

  #apply(partition: number, changes: readonly AnnouncedChange[]): void {
    const progress = this.#partitions[partition];
    if (progress === undefined) return;
    if (progress.apply(changes)) this.#commits = null;
    const digests = changes.flatMap((change) => change.digests);
    this.#notify(partition, progress, digests, null);
    progress.notified = changes.at(-1)?.sequence ?? progress.notified;
    this.#conditions.check();
  }

  /** A failover may revert what was visible, so the progress is unknown until it is read again. */
  #forget(partition: number): void {
    const progress = this.#partitions[partition];
    if (progress !== undefined) progress.known = false;
  }

  async #load(partition: number, place: number): Promise<void> {
    const progress = this.#partitions[partition];
    if (progress === undefined) return;
    await progress.load(this.#store, this.#store.partitions.tag(partition));
    this.#commits = null;
    this.#unseen.forgetBeyond(partition, progress.announced);
    this.#notify(partition, progress, null, progress.announced);
    progress.notified = place;
    this.#conditions.check();
  }

  #notify(
    partition: number,
    { checkpoint }: PartitionProgress,
    digests: readonly string[] | null,
    last: number | null,
  ): void {
    for (const listener of this.#listeners) listener(partition, digests);
    for (const listener of this.#placeListeners) listener(partition, checkpoint, last);
  }
}
