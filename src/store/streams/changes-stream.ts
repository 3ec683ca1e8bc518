/** Following what becomes visible in a partition: commits of its owner, and claims that others put on it. */

import { setTimeout as pause } from 'node:timers/promises';
import { digestBytes } from '../codec/digest.ts';
import { keys } from '../keys.ts';
import type { Store } from '../store.ts';
import { type Announcement, decodeAnnouncement } from './announcement.ts';
import type { StreamSource } from './shared-streams.ts';
import { type StreamEntry, StreamGapError, StreamReader } from './stream.ts';

export interface AnnouncedChange {
  /** Rises by one from change to change of a partition. */
  readonly sequence: number;
  /** Present when it is a commit. */
  readonly commit: { readonly number: number; readonly announcement: Announcement } | null;
  /** Digests of what changed, one text of 8 bytes (latin1) each. */
  readonly digests: readonly string[];
}

export interface ChangesListener {
  /** Changes of a partition, in order. */
  onChanges(partition: number, changes: readonly AnnouncedChange[]): void;
  /** The partition is not heard of until `onGap`: what is known of it may be taken back (a failover). */
  onLost(partition: number): void;
  /**
   * Changes were missed: nothing that was concluded from earlier ones holds. Reading continues when the promise has settled.
   * @param place sequence of the last change that is not passed on
   */
  onGap(partition: number, place: number): Promise<void>;
}

/** Fields of a change that is a commit, as `scripts/partitions/commit.lua` writes them. */
export const changeFields = { commit: 'c', number: 'n', itemNames: 'i' } as const;

const blockMs = 1000;
const entriesPerRead = 128;

/** Follows one partition until closed. Errors of the connection are waited out. */
export class ChangesFollower {
  #reader: StreamReader | null = null;
  #closed = false;

  constructor(
    private readonly store: Store,
    private readonly source: StreamSource,
    private readonly partition: number,
    private readonly listener: ChangesListener,
  ) {}

  /** Calls `onGap` once to begin with, then `onChanges` from there. */
  async run(): Promise<void> {
    const tag = this.store.partitions.tag(this.partition);
    while (!this.#closed) {
      try {
        const place = await lastChange(this.store, tag);
        // The place is read before the state, so nothing between them is missed.
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

/** Place of the last change of a partition, before which a reader begins. @throws what the client throws */
export async function lastChange({ client }: Store, tag: string): Promise<number> {
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
