/** Following which items the commits of a partition change, whichever worker owns it. */
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../lib/assert.ts';
import { keys } from '../keys.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import type { Store } from '../store.ts';
import { changeFields, lastChange } from './changes-stream.ts';
import type { StreamSource } from './shared-streams.ts';
import { type StreamEntry, StreamReader } from './stream.ts';

/** Commits that follow one another. */
export interface ItemCommits {
  /** Number of the last of them. */
  readonly number: number;
  /** Names of the items that they changed, as each of them packed them (`packItemNames`). */
  readonly names: readonly Buffer[];
}

export interface ItemChangesListener {
  /** Reads all items. Every change since before the call is reported afterwards. */
  onGap(partition: number): Promise<void>;
  /** Reading continues when the promise has settled. What ended with a StoreUnavailableError is reported again. */
  onCommits(partition: number, commits: ItemCommits): Promise<void>;
  /** A failover may have reverted changes, or some were missed. `onGap` follows. @param why for the log */
  onLost(partition: number, why: unknown): void;
}

const blockMs = 1000;
const entriesPerRead = 64;
const retryMs = 100;
/** An owner that names no items will be replaced by one that does, by the person who changes the setting. */
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

  /** Calls `onGap` once to begin with, then `onCommits` from there. Errors of the connection are waited out. */
  async run(): Promise<void> {
    const tag = this.store.partitions.tag(this.partition);
    while (!this.#isClosed) {
      try {
        // The place is read before the items, so no change is missed.
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

  /** @throws StreamGapError, UnnamedItemsError, StoreUnavailableError when all items have to be read again */
  async #follow(reader: StreamReader): Promise<void> {
    this.#reader = reader;
    let told: ItemCommits | null = null;
    try {
      while (!this.#isClosed) {
        try {
          told ??= commitsOf(await reader.next(entriesPerRead, blockMs));
          if (told !== null) await this.listener.onCommits(this.partition, told);
          told = null;
        } catch (error) {
          // A connection that broke continues where it was, unless what was read may be forgotten.
          if (reader.isOver || !(error instanceof StoreUnavailableError)) throw error;
          await pause(retryMs);
        }
      }
    } finally {
      reader.close();
    }
  }
}

/** Null when none of the changes is a commit. @throws UnnamedItemsError */
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
