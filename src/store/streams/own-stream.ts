/**
 * A stream that one process reads and others write to. It exists only while its reader lives: the reader makes it and
 * keeps it from expiring, writers never create it. So a dead process leaves nothing behind, and a writer learns from
 * the missing stream that nobody is there to read.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Script } from '../redis/script.ts';
import type { RedisHost } from '../store.ts';
import { connectToStream, type StreamConnection, type StreamReply } from './stream-connection.ts';

const keep = new Script<[isNew: number, seconds: number, microseconds: number]>('streams/keep', 1);

/** Without its reader's sign of life a stream is gone after this. */
export const ownStreamTtlMs = 15_000;
const keepAliveMs = 1000;
const entriesPerRead = 64;
const blockMs = 1000;
const retryMs = 100;
/** Entries that were read are trimmed at the latest when they hold this much. */
const readBytesKept = 1024 * 1024;
/** Only a measurement this quick tells the time of Redis well enough. */
const roundTripMaxMs = 20;

/** What `XADD` writes and `OwnStream` reads. */
export const packedField = 'b';

/** Called for each entry, in order. `ageMs`: how long ago it was added, by Redis' clock. */
export type EntryListener = (packed: Buffer, ageMs: number) => void;

export class OwnStream {
  #connection: StreamConnection;
  #timer: NodeJS.Timeout | null = null;
  #place = '0-0';
  #readBytes = 0;
  /** Redis' clock minus `performance.now()`. */
  #clockOffsetMs: number | null = null;
  #closed = false;
  #keepingAlive: Promise<void> | null = null;

  constructor(
    private readonly host: RedisHost,
    private readonly key: string,
    private readonly onEntry: EntryListener,
  ) {
    this.#connection = connectToStream(host, key);
  }

  /** Resolves once the stream exists; reading goes on until `close`. @throws when Redis does not answer */
  async start(): Promise<void> {
    await this.#keepAlive();
    this.#timer = setInterval(() => this.#keepAliveOnce(), keepAliveMs);
    void this.#run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#connection.close();
    await this.#keepingAlive;
    await this.host.client.del(this.key).catch(() => {});
  }

  /** One at a time: while Redis does not answer, calls must not pile up. */
  #keepAliveOnce(): void {
    this.#keepingAlive ??= this.#keepAlive()
      .catch(() => {})
      .finally(() => {
        this.#keepingAlive = null;
      });
  }

  async #keepAlive(): Promise<void> {
    this.#trim();
    const askedMs = performance.now();
    const [isNew, seconds, microseconds] = await keep.run(this.host.client, [this.key], [ownStreamTtlMs]);
    this.#setClock(seconds * 1000 + microseconds / 1000, askedMs);
    // A new stream may be on a Redis whose clock is behind: read it from its beginning.
    if (isNew === 1) this.#place = '0-0';
  }

  #setClock(redisMs: number, askedMs: number): void {
    const roundTripMs = performance.now() - askedMs;
    if (this.#clockOffsetMs !== null && roundTripMs > roundTripMaxMs) return;
    this.#clockOffsetMs = redisMs - (askedMs + roundTripMs / 2);
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const reply = await this.#connection.read(this.#place, entriesPerRead, blockMs).catch(() => undefined);
      if (reply === undefined) await this.#reconnect();
      else this.#takeAll(reply);
    }
  }

  /** After a failover the stream may have an earlier state and another clock, so it is read from its beginning. */
  async #reconnect(): Promise<void> {
    if (this.#closed) return;
    await pause(retryMs);
    this.#connection.close();
    if (this.#closed) return;
    this.#place = '0-0';
    this.#connection = connectToStream(this.host, this.key);
  }

  #takeAll(reply: StreamReply): void {
    try {
      this.#take(reply);
    } catch {
      // An entry that breaks the listener must not do so for ever: the place is after the entry.
    }
  }

  #take(reply: StreamReply): void {
    const nowMs = performance.now() + (this.#clockOffsetMs ?? 0);
    for (const [id, fields] of reply?.[0]?.[1] ?? []) {
      this.#place = id.toString();
      const [name, packed] = fields;
      if (packed === undefined || name?.toString() !== packedField) continue;
      this.#readBytes += packed.length;
      this.onEntry(packed, Math.max(0, nowMs - Number.parseInt(this.#place, 10)));
    }
    if (this.#readBytes > readBytesKept) this.#trim();
  }

  /** Drops what was read, so that the stream holds no more than what waits. */
  #trim(): void {
    if (this.#place === '0-0') return;
    this.#readBytes = 0;
    const [ms, sequence] = this.#place.split('-');
    this.host.client.xtrim(this.key, 'MINID', `${ms}-${Number(sequence) + 1}`).catch(() => {});
  }
}
