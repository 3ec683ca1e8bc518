/** Follows which items the commits of a partition change, whatever worker owns it. */
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../lib/assert.ts';
import { keys } from '../keys.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { changeFields, lastChange } from './changes-stream.ts';
import type { StreamSource } from './shared-streams.ts';
import { type StreamEntry, StreamReader } from './stream.ts';

/** Consecutive commits. */
export interface ItemCommits {
  /** Number of the last of them. */
  readonly number: number;
  /** Names of the items that each commit changed, packed (`packItemNames`). */
  readonly names: readonly Buffer[];
}

export interface ItemChangesListener {
  /** Must read all items. All changes since before the call are reported afterwards. */
  onGap(partition: number): Promise<void>;
  /** Reading continues after the promise has settled. After a StoreUnavailableError, the same commits are reported again. */
  onCommits(partition: number, commits: ItemCommits): Promise<void>;
  /** A failover may have reverted changes, or some were missed. `onGap` follows. @param why for the log */
  onLost(partition: number, why: unknown): void;
}

const blockMs = 1000;
const entriesPerRead = 64;
const retryMs = 100;
/** An owner that names no items stays until the setting is changed. */
const unnamedRetryMs = 5_000;

/** The owner of a partition does not name the items that it changes. */
export class UnnamedItemsError extends Error {
  override readonly name = 'UnnamedItemsError';
}

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
          received ??= commitsOf(await reader.next(entriesPerRead, blockMs));
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
