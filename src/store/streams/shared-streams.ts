/**
 * Reads all streams of a process on a single Redis with one blocking read, since a read costs both sides more than dozens of
 * entries. Reads ahead, so that a stream with a busy reader needs no separate read. In a cluster, a read can only use one slot,
 * so each stream has its own connection.
 */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import type { SendBehind } from '../redis/field-reader.ts';
import { connectBlocking, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError, storeError } from '../redis/redis-errors.ts';
import { sendRaw } from '../redis/send.ts';
import type { RedisHost } from '../store.ts';
import { SharedStream } from './shared-stream.ts';
import { LastIds, NodeConnection, type StreamConnection, type StreamReply } from './stream-connection.ts';

/** Maximum entries per stream and read. */
const entriesPerRead = 200;
/** Maximum duration of a blocking read. */
const blockMsMax = 1_000;
const retryMs = 100;
/** Interval for repeating UNBLOCK, which has no effect before the read blocks. */
const interruptAgainMs = 20;

/** A source of streams. */
export interface StreamSource {
  /** Opens a stream; its first read determines the position. */
  connect(key: string): StreamConnection;
  /**
   * Reads all streams without blocking. Null in a cluster.
   * @param send sends on the caller's connection, after earlier commands
   * @returns key -> id up to which all entries are delivered or queued for the reader; null if there may be more
   */
  readonly catchUp: ((send: SendBehind) => Promise<ReadonlyMap<string, string> | null>) | null;
  /** Ends all connections, including those returned by `connect`. */
  close(): void;
}

/**
 * @param pauseMs pause between reads to collect entries; delays the second of two entries by up to this. No effect in a cluster
 */
export function openStreamSource(host: RedisHost, pauseMs = 0): StreamSource {
  const { client } = host;
  if (!(client instanceof Cluster)) return new SharedStreams(host, pauseMs);
  const opened = new Set<StreamConnection>();
  return {
    connect(key) {
      for (const former of opened) if (former.isOver) opened.delete(former);
      const connection = new NodeConnection(client, key);
      opened.add(connection);
      return connection;
    },
    catchUp: null,
    close() {
      for (const connection of opened) connection.close();
    },
  };
}

class SharedStreams implements StreamSource {
  readonly #client: RedisClient;
  readonly #lastIds: LastIds;
  readonly #streams = new Set<SharedStream>();
  /** Streams of the current read, with the ids after which it reads; null between reads. */
  #reading: ReadonlyMap<SharedStream, string> | null = null;
  #interrupting: NodeJS.Timeout | null = null;
  /** Redis' id of the connection; null while unknown. */
  #connectionId: unknown = null;
  /** History of the Redis that replied last; each start of a Redis begins a new one. */
  #history: string | null = null;
  #isRunning = false;
  #closed = false;

  constructor(
    private readonly host: RedisHost,
    private readonly pauseMs: number,
  ) {
    this.#client = connectBlocking(host.address);
    this.#lastIds = new LastIds(this.#client);
    this.#client.on('close', () => {
      this.#connectionId = null;
    });
  }

  connect(key: string): StreamConnection {
    const stream = new SharedStream(key, {
      onWait: () => this.#wake(stream),
      lastId: () => this.#lastIds.of(key),
      onClose: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return stream;
  }

  readonly catchUp = async (send: SendBehind): Promise<ReadonlyMap<string, string> | null> => {
    // The current Redis may have lost entries that were already read.
    const connectionId = this.#connectionId;
    if (connectionId === null && this.host.mayForget === true) return null;
    const wanted = this.#wanted();
    if (wanted.size === 0 || wanted.size < this.#streams.size) return null;
    const reply = (await send('XREAD', readWords(wanted, null))) as StreamReply;
    // The client library repeats commands after its connection broke, so another Redis may have replied.
    if (connectionId !== this.#connectionId && this.host.mayForget === true) return null;
    this.#handOut(wanted, reply);
    if (reply?.some(([, entries]) => entries.length === entriesPerRead)) return null;
    return new Map([...wanted.keys()].map((stream) => [stream.key, stream.place]));
  };

  close(): void {
    this.#closed = true;
    this.#readIsOver();
    for (const stream of [...this.#streams]) stream.close();
    this.#client.disconnect();
  }

  #wake(stream: SharedStream): void {
    if (!this.#isRunning) void this.#run();
    else if (this.#reading !== null && this.#reading.get(stream) !== stream.place) this.#interrupt();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (!this.#closed && [...this.#streams].some(({ hasRoom }) => hasRoom)) await this.#read();
    this.#isRunning = false;
  }

  async #read(): Promise<void> {
    try {
      if (this.#connectionId === null) await this.#begin();
      const wanted = this.#wanted();
      this.#reading = wanted;
      const found = await this.#send(wanted);
      this.#readIsOver();
      const reply = await this.#withOthers(wanted, found);
      // The connection broke, so another Redis process may have replied.
      if (this.#connectionId === null && this.host.mayForget === true) return;
      const hasEntries = this.#handOut(wanted, reply);
      // Wait at least one turn of the event loop, so that readers can request more before the next read.
      await (hasEntries && this.pauseMs > 0 ? pause(this.pauseMs) : nextTurn());
    } catch (error) {
      this.#readIsOver();
      // A replaced server may keep its connections, so check its history again.
      this.#connectionId = null;
      for (const stream of this.#streams) stream.fail(storeError(error));
      await pause(retryMs);
    }
  }

  /** Initializes a new connection. If Redis may have lost data, its streams end, as in a cluster after an error. */
  async #begin(): Promise<void> {
    // Send both together: if the connection broke in between, the id would be invalid.
    const [id, history] = await Promise.all([
      sendRaw(this.#client, 'CLIENT', ['ID']),
      this.host.mayForget === true ? historyOf(this.#client) : null,
    ]);
    const isOther = this.#history !== null && history !== this.#history;
    this.#history = history;
    if (isOther) for (const stream of [...this.#streams]) stream.close();
    this.#connectionId = id;
  }

  #wanted(): Map<SharedStream, string> {
    const wanted = new Map<SharedStream, string>();
    for (const stream of this.#streams) if (stream.hasRoom) wanted.set(stream, stream.place);
    return wanted;
  }

  #send(wanted: ReadonlyMap<SharedStream, string>): Promise<StreamReply> {
    const nowMs = performance.now();
    const waitMs = [...wanted.keys()].map((stream) => stream.endsMs - nowMs);
    const blockMs = Math.max(1, Math.ceil(Math.min(blockMsMax, ...waitMs)));
    return sendRaw(this.#client, 'XREAD', readWords(wanted, blockMs)) as Promise<StreamReply>;
  }

  /**
   * Adds the entries of the other streams. A blocking read ends with the first stream that has an entry, but writers usually
   * write to several streams at once. Readers that get their entries together share commands.
   */
  async #withOthers(wanted: ReadonlyMap<SharedStream, string>, reply: StreamReply): Promise<StreamReply> {
    if (reply?.length !== 1 || wanted.size === 1) return reply;
    const others = new Map([...wanted].filter(([{ key }]) => key !== reply[0]?.[0].toString()));
    const more = (await sendRaw(this.#client, 'XREAD', readWords(others, null))) as StreamReply;
    return more === null ? reply : [...reply, ...more];
  }

  /** @returns whether there were any entries */
  #handOut(wanted: ReadonlyMap<SharedStream, string>, reply: StreamReply): boolean {
    const found = new Map((reply ?? []).map(([key, entries]) => [key.toString(), entries]));
    const nowMs = performance.now();
    for (const [stream, place] of wanted) stream.take(place, found.get(stream.key) ?? [], nowMs);
    return found.size > 0;
  }

  /** Ends the current read if it leaves out a stream with a waiting reader. */
  #interrupt(): void {
    if (this.#interrupting !== null) return;
    const interrupt = () => {
      if (this.#connectionId === null) return;
      sendRaw(this.host.client, 'CLIENT', ['UNBLOCK', String(this.#connectionId)]).catch(() => {});
    };
    interrupt();
    this.#interrupting = setInterval(interrupt, interruptAgainMs);
  }

  #readIsOver(): void {
    this.#reading = null;
    if (this.#interrupting !== null) clearInterval(this.#interrupting);
    this.#interrupting = null;
  }
}

/**
 * Each start of a Redis and each promotion of a replica begins a new history. A replica that is not yet promoted has the
 * history of its master but may lack its end.
 * @throws StoreUnavailableError for a replica
 */
async function historyOf(client: RedisClient): Promise<string> {
  const facts = String(await sendRaw(client, 'INFO', ['replication']));
  if (/^role:slave/m.test(facts)) throw new StoreUnavailableError('this Redis is a replica');
  return /master_replid:(\w+)/.exec(facts)?.[1] ?? '';
}

/** @param blockMs null: do not block */
function readWords(wanted: ReadonlyMap<SharedStream, string>, blockMs: number | null): (string | number)[] {
  const words: (string | number)[] = ['COUNT', entriesPerRead];
  if (blockMs !== null) words.push('BLOCK', blockMs);
  words.push('STREAMS');
  for (const { key } of wanted.keys()) words.push(key);
  for (const place of wanted.values()) words.push(place);
  return words;
}
