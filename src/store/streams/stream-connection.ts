/**
 * Where a stream ends, whether its last entries are still there or not; and a connection of its own for the blocking reads of
 * one stream: on a shared one they would hold up every other command.
 */
import { Cluster, type Redis } from 'ioredis';
import { connectBlocking, connectToNode, nodeOf, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import { sendRaw } from '../redis/send.ts';
import type { RedisHost } from '../store.ts';

const lastIds = new Script<Buffer[]>('streams/last-ids', null);

/** Id of the last entry that was ever added to a stream; `0-0` before the first. @throws StoreUnavailableError */
export async function lastIdOf(client: RedisClient, key: string): Promise<string> {
  return String(await lastIds.run(client, [key], []));
}

/** As `lastIdOf`, by one call for all streams of one Redis that are asked for in one turn of the event loop. */
export class LastIds {
  #keys: string[] = [];
  #reply: Promise<Buffer[]> | null = null;

  constructor(private readonly client: RedisClient) {}

  /** @throws StoreUnavailableError */
  async of(key: string): Promise<string> {
    const at = this.#keys.push(key) - 1;
    this.#reply ??= new Promise((resolve) => {
      // After everything else in this turn, and before the commands of the next one.
      process.nextTick(() => resolve(this.#send()));
    });
    return String((await this.#reply)[at]);
  }

  #send(): Promise<Buffer[]> {
    const keys = this.#keys;
    this.#keys = [];
    this.#reply = null;
    return lastIds.run(this.client, keys, []);
  }
}

export type StreamReply = [key: Buffer, entries: [id: Buffer, fields: Buffer[]][]][] | null;

/** A node that does not end a blocking read this long after its time is as good as dead. */
const overdueMs = 2_000;

export interface StreamConnection {
  /** Entries after a place, at most `count`; null when none came for `blockMs`. Rejects when the connection breaks. */
  read(place: string, count: number, blockMs: number): Promise<StreamReply>;
  /** As `lastIdOf`. Rejects when the connection breaks. */
  lastId(): Promise<string>;
  /** It no longer reads: it was closed, or what it has read may be taken back. */
  readonly isOver: boolean;
  close(): void;
}

/**
 * One Redis: the connection comes back by itself. Cluster: it ends with the first error, because after that another
 * node may continue from an earlier state. A reader that wants to go on asks for a new connection, and looks where the
 * stream is.
 */
export function connectToStream({ client, address }: RedisHost, key: string): StreamConnection {
  if (!(client instanceof Cluster)) return new LastingConnection(connectBlocking(address), key);
  return new NodeConnection(client, key);
}

function readOn(
  client: RedisClient,
  key: string,
  place: string,
  count: number,
  blockMs: number,
): Promise<StreamReply> {
  const words = ['COUNT', count, 'BLOCK', blockMs, 'STREAMS', key, place];
  return sendRaw(client, 'XREAD', words) as Promise<StreamReply>;
}

/** Ends what a closed client leaves open: one that waits to connect again never settles what it was going to send again. */
export class UntilClosed {
  /** Rejections of what waits for an answer. */
  readonly #rejects = new Set<(error: Error) => void>();

  /** Settles as `sent` does, or rejects when this is closed before. */
  settle<T>(sent: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#rejects.add(reject);
      sent.then(resolve, reject).finally(() => this.#rejects.delete(reject));
    });
  }

  close(): void {
    for (const reject of this.#rejects) reject(new StoreUnavailableError('the connection is closed'));
  }
}

class LastingConnection implements StreamConnection {
  readonly #untilClosed = new UntilClosed();
  isOver = false;

  constructor(
    private readonly client: RedisClient,
    private readonly key: string,
  ) {}

  read(place: string, count: number, blockMs: number): Promise<StreamReply> {
    return this.#untilClosed.settle(readOn(this.client, this.key, place, count, blockMs));
  }

  lastId(): Promise<string> {
    return this.#untilClosed.settle(lastIdOf(this.client, this.key));
  }

  close(): void {
    this.isOver = true;
    this.client.disconnect();
    this.#untilClosed.close();
  }
}

class NodeConnection implements StreamConnection {
  #client: Redis | null = null;
  isOver = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly key: string,
  ) {}

  read(place: string, count: number, blockMs: number): Promise<StreamReply> {
    return this.#ask(blockMs, (client) => readOn(client, this.key, place, count, blockMs));
  }

  lastId(): Promise<string> {
    return this.#ask(0, (client) => lastIdOf(client, this.key));
  }

  close(): void {
    this.isOver = true;
    this.#client?.disconnect();
  }

  async #ask<T>(waitMs: number, send: (client: Redis) => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.close(), waitMs + overdueMs);
    try {
      return await send(this.#connected());
    } catch (error) {
      this.close();
      this.cluster.refreshSlotsCache(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #connected(): Redis {
    if (this.isOver) throw new StoreUnavailableError(`the connection to ${this.key} is over`);
    if (this.#client !== null) return this.#client;
    const node = nodeOf(this.cluster, this.key);
    if (node === null) throw new StoreUnavailableError(`nobody serves ${this.key}`);
    this.#client = connectToNode(node);
    return this.#client;
  }
}
