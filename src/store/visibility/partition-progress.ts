/** The progress of one partition, as far as this process has received it. */
import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import type { AnnouncedChange } from '../streams/changes-stream.ts';
import { type DownstreamInvalidation, downstreamField } from '../streams/changes-stream.ts';

export class PartitionProgress {
  /** False until the state is read, and while a failover may have reverted it. */
  known = false;
  checkpoint = 0;
  /** Sequence of the last change that the listeners were notified of. */
  notified = 0;
  /** Number of the last commit seen. */
  commits = 0;
  /** Last stream entry known to exist, from the state in Redis or from our own writes. */
  announced = 0;
  /** Tenant -> first invalidation whose rebuild is pending. */
  #pendingRebuilds: ReadonlyMap<string, number> = new Map();
  /** Tenant -> first stream entry whose outputs may not be built yet. */
  #deferred: ReadonlyMap<string, number> = new Map();
  /** `downstreamField` -> last invalidation that changes of this partition sent there. */
  #downstream = new Map<string, number>();

  get backlog(): number {
    return Math.max(0, this.announced - this.checkpoint);
  }

  /** True once a write is processed. */
  hasPassed(sequence: number): boolean {
    return this.known && this.checkpoint >= sequence;
  }

  /** True once every output of a processed write is built. */
  hasBuilt(tenant: string, sequence: number): boolean {
    return this.known && (this.#deferred.get(tenant) ?? Number.POSITIVE_INFINITY) > sequence;
  }

  get hasDownstream(): boolean {
    return this.#downstream.size > 0;
  }

  /** The last invalidation sent to a partition for a tenant, if any. */
  sentTo(tenant: string, partition: number): number | undefined {
    return this.#downstream.get(downstreamField(tenant, partition));
  }

  /** Sequence up to which every rebuild of a tenant is done here. */
  rebuiltUpTo(tenant: string): number {
    if (!this.known) return -1;
    const firstPending = this.#pendingRebuilds.get(tenant) ?? Number.POSITIVE_INFINITY;
    const firstDeferred = this.#deferred.get(tenant) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.checkpoint, firstPending - 1, firstDeferred - 1);
  }

  /** @returns true if there was a new commit */
  apply(changes: readonly AnnouncedChange[]): boolean {
    let hasCommits = false;
    for (const { commit } of changes) {
      // A commit older than the state would move the progress backwards.
      if (commit === null || commit.number <= this.commits) continue;
      hasCommits = true;
      this.commits = commit.number;
      this.checkpoint = Math.max(this.checkpoint, commit.announcement.checkpoint);
      this.announced = Math.max(this.announced, this.checkpoint);
      this.#pendingRebuilds = commit.announcement.pendingRebuilds;
      this.#deferred = commit.announcement.deferred;
      for (const invalidation of commit.announcement.downstream) this.#note(invalidation);
    }
    return hasCommits;
  }

  #note({ tenant, partition, sequence }: DownstreamInvalidation): void {
    const field = downstreamField(tenant, partition);
    this.#downstream.set(field, Math.max(sequence, this.#downstream.get(field) ?? 0));
  }

  /** Replaces everything with the state in Redis. @throws what the client throws */
  async load({ client }: Store, tag: string): Promise<void> {
    const [owner, downstream, announced] = await Promise.all([
      client.hgetallBuffer(keys.owner(tag)),
      client.hgetall(keys.downstream(tag)),
      client.hget(keys.clock(tag), 'stream'),
    ]);
    this.checkpoint = Number(owner.checkpoint?.toString() ?? 0);
    this.commits = Number(owner.commits?.toString() ?? 0);
    this.announced = Number(announced ?? 0);
    this.#pendingRebuilds = new Map(owner.dirty && unpack<[string, number][]>(owner.dirty));
    this.#deferred = new Map(owner.deferred && unpack<[string, number][]>(owner.deferred));
    this.#downstream = new Map(
      Object.entries(downstream).map(([field, sequence]) => [field, Number(sequence)]),
    );
    this.known = true;
  }
}
