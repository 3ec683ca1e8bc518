/** Reads the streams of a partition. Entry ids are `<sequence>-0` with our own sequences, so that gaps can be detected. */
import { storeError } from '../redis/redis-errors.ts';
import type { StreamSource } from './shared-streams.ts';
import type { StreamConnection, StreamReply } from './stream-connection.ts';

export interface StreamEntry {
  readonly sequence: number;
  readonly fields: ReadonlyMap<string, Buffer>;
}

/** Entries after the position of a reader were trimmed unread, or the stream ends before it. */
export class StreamGapError extends Error {
  override readonly name = 'StreamGapError';
}

/** Reads one stream in order. In a cluster, the reader ends if a call fails (`NodeConnection`). */
export class StreamReader {
  readonly #connection: StreamConnection;
  #closed = false;

  constructor(
    source: StreamSource,
    private readonly key: string,
    /** Sequence of the last entry that was read. */
    private place: number,
  ) {
    this.#connection = source.connect(key);
  }

  /**
   * Reads without taking anything, because the first read after a restart of Redis ends streams from before it. An owner must
   * notice that before it loads its items.
   * @throws StoreUnavailableError
   */
  async begin(): Promise<void> {
    await this.#read(1, 1);
  }

  /**
   * The next entries, at most `count`; empty if none arrived within `blockMs` or the reader was closed.
   * @throws StreamGapError, StoreUnavailableError
   */
  async next(count: number, blockMs: number): Promise<StreamEntry[]> {
    const reply = await this.#read(count, blockMs);
    const [stream] = reply ?? [];
    const entries = (stream?.[1] ?? []).map(decodeEntry);
    const [first] = entries;
    if (first === undefined) {
      await this.#checkPlace();
      return [];
    }
    if (first.sequence !== this.place + 1) {
      throw new StreamGapError(`${this.key}: entry ${first.sequence} follows ${this.place}`);
    }
    this.place = entries.at(-1)?.sequence ?? this.place;
    return entries;
  }

  /**
   * After a failover, or a restart that lost the last second, a stream can end before our position. Entries added then would
   * never be read.
   */
  async #checkPlace(): Promise<void> {
    const last = await this.#lastSequence();
    if (last === null || last >= this.place) return;
    throw new StreamGapError(`${this.key}: ends at ${last}, though ${this.place} was read`);
  }

  /** Null if the reader was closed. */
  async #lastSequence(): Promise<number | null> {
    if (this.#closed) return null;
    try {
      return Number.parseInt(await this.#connection.lastId(), 10);
    } catch (error) {
      if (this.#closed) return null;
      throw storeError(error);
    }
  }

  /**
   * True if it no longer reads, because it was closed or a failover may have undone what it read. After other errors, it can
   * continue.
   */
  get isOver(): boolean {
    return this.#closed || this.#connection.isOver;
  }

  /** Continues after an entry, independent of what was read before. */
  seek(sequence: number): void {
    this.place = sequence;
  }

  async #read(count: number, blockMs: number): Promise<StreamReply> {
    try {
      return await this.#connection.read(`${this.place}-0`, count, blockMs);
    } catch (error) {
      if (this.#closed) return null;
      throw storeError(error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#connection.close();
  }
}

function decodeEntry([id, fields]: [Buffer, Buffer[]]): StreamEntry {
  const decoded = new Map<string, Buffer>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [name, value] = [fields[index], fields[index + 1]];
    if (name !== undefined && value !== undefined) decoded.set(name.toString(), value);
  }
  return { sequence: Number.parseInt(id.toString(), 10), fields: decoded };
}
