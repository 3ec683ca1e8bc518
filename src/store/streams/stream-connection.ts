/**
 * Reads the last id of a stream, even if its last entries were trimmed. Also provides separate connections for blocking reads
 * of a stream, which would delay all other commands on a shared one.
 */
import { Cluster, type Redis } from 'ioredis';
import { connectBlocking, connectToNode, nodeOf, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import { sendRaw } from '../redis/send.ts';
import type { RedisHost } from '../store.ts';

const lastIds = new Script<Buffer[]>('streams/last-ids', null);

/** Id of the last entry ever added to a stream; `0-0` before the first. @throws StoreUnavailableError */
export async function lastIdOf(client: RedisClient, key: string): Promise<string> {
  return String(await lastIds.run(client, [key], []));
}

/** Like `lastIdOf`, but with one call for all streams requested in the same turn of the event loop. */
export class LastIds {
  #keys: string[] = [];
  #reply: Promise<Buffer[]> | null = null;

  constructor(private readonly client: RedisClient) {}

  /** @throws StoreUnavailableError */
  async of(key: string): Promise<string> {
    const at = this.#keys.push(key) - 1;
    this.#reply ??= new Promise((resolve) => {
      // After everything else in this turn, but before the commands of the next one.
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

/** A node that does not end a blocking read this long after its timeout counts as dead. */
const overdueMs = 2_000;

export interface StreamConnection {
  /** At most `count` entries after the id `place`; null if none arrived within `blockMs`. Rejects if the connection breaks. */
  read(place: string, count: number, blockMs: number): Promise<StreamReply>;
  /** See `lastIdOf`. Rejects if the connection breaks. */
  lastId(): Promise<string>;
  /** True if it no longer reads, because it was closed or a failover may have undone what it read. */
  readonly isOver: boolean;
  close(): void;
}

/**
 * With a single Redis, the connection reconnects. In a cluster, it ends with the first error, because then another node may
 * continue from an earlier state. To continue, a reader needs a new connection and must check where the stream ends.
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

/** Rejects pending promises on close, because a closed client that was waiting to reconnect never settles them. */
export class UntilClosed {
  /** Reject functions of the pending promises. */
  readonly #rejects = new Set<(error: Error) => void>();

  /** Settles like `sent`, or rejects on `close`. */
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
