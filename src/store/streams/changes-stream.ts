/**
 * The visible changes of a partition: commits of its owner, each with the progress that it announces, and claims that other
 * partitions make in it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../lib/assert.ts';
import { digestBytes } from '../codec/digest.ts';
import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import type { StreamSource } from './shared-streams.ts';
import { type StreamEntry, StreamGapError, StreamReader } from './stream.ts';

/** The last invalidation that a batch sent to a partition for a tenant. */
export interface DownstreamInvalidation {
  readonly tenant: string;
  readonly partition: number;
  readonly sequence: number;
}

/** The commit data that fronts receive. */
export interface Announcement {
  readonly checkpoint: number;
  /** Tenant -> first invalidation whose rebuild is pending. */
  readonly pendingRebuilds: ReadonlyMap<string, number>;
  readonly downstream: readonly DownstreamInvalidation[];
  /**
   * Tenant -> sequence in the stream from which on outputs may not be built yet, because they wait for a JavaScript schema or a
   * lookup index.
   */
  readonly deferred: ReadonlyMap<string, number>;
  /** Digests of the changed views, claims and indexes, 8 bytes each. */
  readonly digests: Buffer;
}

/** The announcement as passed by the owner. */
export interface OwnAnnouncement extends Omit<Announcement, 'deferred'> {
  /** Absent: none. */
  readonly deferred?: Announcement['deferred'];
  /** From `packItemNames`; absent if no worker holds copies of shards, to save space. */
  readonly itemNames?: Buffer;
}

export type PackedAnnouncement = [
  checkpoint: number,
  pendingRebuilds: [string, number][],
  downstream: [string, number, number][],
  digests: Buffer,
  deferred: [string, number][],
];

/** @param packed field `c` of a change, packed by `commit` */
export function decodeAnnouncement(packed: Buffer): Announcement {
  const [checkpoint, pendingRebuilds, downstream, digests, deferred] = unpack<PackedAnnouncement>(packed);
  return {
    checkpoint,
    pendingRebuilds: new Map(pendingRebuilds),
    downstream: downstream.map(([tenant, partition, sequence]) => ({ tenant, partition, sequence })),
    deferred: new Map(deferred),
    digests,
  };
}

/** Field of `keys.downstream`. */
export function downstreamField(tenant: string, partition: number): string {
  return `${tenant}:${partition}`;
}

export interface AnnouncedChange {
  /** Increases by one with each change of a partition. */
  readonly sequence: number;
  /** Null if the change is not a commit. */
  readonly commit: { readonly number: number; readonly announcement: Announcement } | null;
  /** Digests of what changed, each as a latin1 string of 8 bytes. */
  readonly digests: readonly string[];
}

export interface ChangesListener {
  /** Changes of a partition, in order. */
  onChanges(partition: number, changes: readonly AnnouncedChange[]): void;
  /** No changes arrive until `onGap`, and earlier ones may be undone by a failover. */
  onLost(partition: number): void;
  /**
   * Changes were missed, so all conclusions from earlier ones are invalid. Reading continues after the promise has settled.
   * @param place sequence of the last change that will not be reported
   */
  onGap(partition: number, place: number): Promise<void>;
}

/** Fields of a commit, written by `scripts/partitions/commit.lua`. */
const changeFields = { commit: 'c', number: 'n', itemNames: 'i' } as const;

const blockMs = 1000;
const entriesPerRead = 128;

/** Follows one partition until closed. Retries after connection errors. */
export class ChangesFollower {
  #reader: StreamReader | null = null;
  #closed = false;

  constructor(
    private readonly store: Store,
    private readonly source: StreamSource,
    private readonly partition: number,
    private readonly listener: ChangesListener,
  ) {}

  /** First calls `onGap`, then `onChanges` for all later changes. */
  async run(): Promise<void> {
    const tag = this.store.partitions.tag(this.partition);
    while (!this.#closed) {
      try {
        const place = await lastChange(this.store, tag);
        // Read the position before the state, so that no change is missed.
        await this.listener.onGap(this.partition, place);
        await this.#follow(new StreamReader(this.source, keys.changes(tag), place));
      } catch (error) {
        if (this.#closed) return;
        this.listener.onLost(this.partition);
        if (!(error instanceof StreamGapError)) await pause(100);
      }
    }
  }

  async #follow(reader: StreamReader): Promise<void> {
    this.#reader = reader;
    try {
      while (!this.#closed) {
        const entries = await reader.next(entriesPerRead, blockMs);
        if (entries.length > 0) this.listener.onChanges(this.partition, entries.map(decodeChange));
      }
    } finally {
      reader.close();
    }
  }

  close(): void {
    this.#closed = true;
    this.#reader?.close();
  }
}

/** Sequence of the last change of a partition, after which a reader begins. @throws what the client throws */
async function lastChange({ client }: Store, tag: string): Promise<number> {
  return Number((await client.hget(keys.clock(tag), 'changes')) ?? 0);
}

function decodeChange({ sequence, fields }: StreamEntry): AnnouncedChange {
  const packed = fields.get(changeFields.commit);
  if (packed === undefined) return { sequence, commit: null, digests: splitDigests(fields.get('d')) };
  const announcement = decodeAnnouncement(packed);
  return {
    sequence,
    commit: { number: Number(fields.get(changeFields.number)?.toString() ?? 0), announcement },
    digests: splitDigests(announcement.digests),
  };
}

function splitDigests(joined: Buffer | undefined): string[] {
  const text = joined?.toString('latin1') ?? '';
  return Array.from({ length: text.length / digestBytes }, (_, index) =>
    text.slice(index * digestBytes, (index + 1) * digestBytes),
  );
}

/** Consecutive commits. */
export interface ItemCommits {
  /** Number of the last of them. */
  readonly number: number;
  /** Names of the items that each commit changed, packed (`packItemNames`). */
  readonly names: readonly Buffer[];
}

interface ItemChangesListener {
  /** Must read all items. All changes since before the call are reported afterwards. */
  onGap(partition: number): Promise<void>;
  /** Reading continues after the promise has settled. After a StoreUnavailableError, the same commits are reported again. */
  onCommits(partition: number, commits: ItemCommits): Promise<void>;
  /** A failover may have reverted changes, or some were missed. `onGap` follows. @param why for the log */
  onLost(partition: number, why: unknown): void;
}

const commitsPerRead = 64;
const retryMs = 100;
/** An owner that names no items stays until the setting is changed. */
const unnamedRetryMs = 5_000;

/** The owner of a partition does not name the items that it changes. */
export class UnnamedItemsError extends Error {
  override readonly name = 'UnnamedItemsError';
}

/** Follows which items the commits of a partition change, whatever worker owns it. */
export class ItemChangesFollower {
  #reader: StreamReader | null = null;
  #isClosed = false;

  constructor(
    private readonly store: Store,
    private readonly source: StreamSource,
    private readonly partition: number,
    private readonly listener: ItemChangesListener,
  ) {}

  /** First calls `onGap`, then `onCommits` for all later changes. Retries after connection errors. */
  async run(): Promise<void> {
    const tag = this.store.partitions.tag(this.partition);
    while (!this.#isClosed) {
      try {
        // Read the position before the items, so that no change is missed.
        const place = await lastChange(this.store, tag);
        if (this.#isClosed) return;
        await this.listener.onGap(this.partition);
        await this.#follow(new StreamReader(this.source, keys.changes(tag), place));
      } catch (error) {
        if (this.#isClosed) return;
        this.listener.onLost(this.partition, error);
        await pause(error instanceof UnnamedItemsError ? unnamedRetryMs : retryMs);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#reader?.close();
  }

  /** @throws StreamGapError, UnnamedItemsError, StoreUnavailableError if all items have to be read again */
  async #follow(reader: StreamReader): Promise<void> {
    this.#reader = reader;
    let received: ItemCommits | null = null;
    try {
      while (!this.#isClosed) {
        try {
          received ??= commitsOf(await reader.next(commitsPerRead, blockMs));
          if (received !== null) await this.listener.onCommits(this.partition, received);
          received = null;
        } catch (error) {
          // A broken connection resumes where it was, unless Redis may have lost what was read.
          if (reader.isOver || !(error instanceof StoreUnavailableError)) throw error;
          await pause(retryMs);
        }
      }
    } finally {
      reader.close();
    }
  }
}

/** Null if none of the changes is a commit. @throws UnnamedItemsError */
function commitsOf(entries: readonly StreamEntry[]): ItemCommits | null {
  const names: Buffer[] = [];
  let number: number | null = null;
  for (const { sequence, fields } of entries) {
    const packed = fields.get(changeFields.number);
    if (packed === undefined) continue;
    const ofCommit = fields.get(changeFields.itemNames);
    if (ofCommit === undefined) {
      throw new UnnamedItemsError(
        `change ${sequence} names no items: SHARD_COPIES must be the same for all workers, and its owner has 1`,
      );
    }
    number = Number(packed.toString());
    names.push(ofCommit);
  }
  assert(number === null || Number.isSafeInteger(number), 'commits are numbered');
  return number === null ? null : { number, names };
}
