/**
 * A stream that one process reads and others write to. It exists only while its reader lives: the reader makes it and
 * keeps it from expiring, writers never create it. So a dead process leaves nothing behind, and a writer learns from
 * the missing stream that nobody is there to read.
 */
import { connectBlocking, type RedisClient } from './connection.ts';
import type { Store } from './store.ts';

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

type ReadReply = [key: Buffer, entries: [id: Buffer, fields: Buffer[]][]][] | null;

/** Called for each entry, in order. `ageMs`: how long ago it was added, by Redis' clock. */
export type EntryListener = (packed: Buffer, ageMs: number) => void;

export class OwnStream {
  readonly #reader: RedisClient;
  #timer: NodeJS.Timeout | null = null;
  #place = '0-0';
  #readBytes = 0;
  /** Redis' clock minus `performance.now()`. */
  #clockOffsetMs: number | null = null;
  #closed = false;
  #keepingAlive: Promise<void> | null = null;

  constructor(
    private readonly store: Store,
    private readonly key: string,
    private readonly onEntry: EntryListener,
  ) {
    this.#reader = connectBlocking(store.address);
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
    this.#reader.disconnect();
    await this.store.client.del(this.key).catch(() => {});
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
    const measured = this.#measureClock();
    this.#trim();
    const exists = await this.store.client.pexpire(this.key, ownStreamTtlMs);
    await measured;
    if (exists === 1 || this.#closed) return;
    // A new stream may be on a Redis whose clock is behind: read it from its beginning.
    this.#place = '0-0';
    await this.store.client.multi().xadd(this.key, '*', 'new', '').pexpire(this.key, ownStreamTtlMs).exec();
  }

  async #measureClock(): Promise<void> {
    const askedMs = performance.now();
    const [seconds, microseconds] = await this.store.client.time();
    const roundTripMs = performance.now() - askedMs;
    if (this.#clockOffsetMs !== null && roundTripMs > roundTripMaxMs) return;
    this.#clockOffsetMs = Number(seconds) * 1000 + Number(microseconds) / 1000 - (askedMs + roundTripMs / 2);
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        this.#take(await this.#read());
      } catch {
        // The reader's client reconnects by itself; a failover or a slot move only sends blocked readers away.
        if (!this.#closed) await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  async #read(): Promise<ReadReply> {
    const { key } = this;
    const place = this.#place;
    return (await this.#reader.callBuffer(
      'XREAD',
      'COUNT',
      entriesPerRead,
      'BLOCK',
      blockMs,
      'STREAMS',
      key,
      place,
    )) as ReadReply;
  }

  #take(reply: ReadReply): void {
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
    this.store.client.xtrim(this.key, 'MINID', `${ms}-${Number(sequence) + 1}`).catch(() => {});
  }
}
