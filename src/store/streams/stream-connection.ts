/**
 * Reads the last id of a stream, even if its last entries were trimmed. Also provides separate connections for blocking reads
 * of a stream in a cluster, which would delay all other commands on a shared one.
 */
import type { Cluster, Redis } from 'ioredis';
import { connectToNode, nodeOf, type RedisClient } from '../redis/redis-connection.ts';
import { StoreUnavailableError } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import { sendRaw } from '../redis/send.ts';

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
 * Reads a stream of a cluster over a connection of its own, which ends with the first error, because then another node may
 * continue from an earlier state. To continue, a reader needs a new connection and must check where the stream ends.
 */
export class NodeConnection implements StreamConnection {
  #client: Redis | null = null;
  isOver = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly key: string,
  ) {}

  read(place: string, count: number, blockMs: number): Promise<StreamReply> {
    const words = ['COUNT', count, 'BLOCK', blockMs, 'STREAMS', this.key, place];
    return this.#ask(blockMs, (client) => sendRaw(client, 'XREAD', words) as Promise<StreamReply>);
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
    if (node === null) throw new StoreUnavailableError(`no node serves ${this.key}`);
    this.#client = connectToNode(node);
    return this.#client;
  }
}
