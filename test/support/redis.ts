/** A private Redis for one test file: empty, on a free port, with its files in a temporary folder, deleted after the tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { after } from 'node:test';
import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/store/redis/redis-connection.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { ownPort } from './own-port.ts';
import { redisAnswers } from './redis-answers.ts';
import { redisFolder } from './redis-folder.ts';
import { until } from './until.ts';

export interface TestRedisOptions {
  /** Keep an append-only file, so that a killed Redis restarts with its data. */
  readonly durable?: boolean;
  /** Time that a starting Redis takes for each command of its file. */
  readonly loadDelayUs?: number;
}

export interface TestStoreOptions {
  readonly commandTimeoutMs?: number;
  /** Separates stores on one Redis. Defaults to 0. */
  readonly database?: number;
}

export class TestRedis {
  #server: ChildProcess | null = null;
  readonly #stores: Store[] = [];
  readonly #ends: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: TestRedisOptions,
  ) {}

  /** Starts a Redis that stops after the tests of the calling file. */
  static async start(options: TestRedisOptions = {}): Promise<TestRedis> {
    const redis = await TestRedis.open(options);
    after(() => redis.stop());
    return redis;
  }

  /** Starts a Redis that the caller stops. */
  static async open(options: TestRedisOptions = {}): Promise<TestRedis> {
    const redis = new TestRedis(await ownPort(), await redisFolder(), options);
    await redis.startServer();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server again after `killServer`, and waits until it responds. */
  async startServer(): Promise<void> {
    this.beginServer();
    await until('Redis responds', () => redisAnswers(this.url));
  }

  /** Like `startServer`, without waiting. */
  beginServer(): void {
    const words = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder];
    words.push('--appendonly', this.options.durable ? 'yes' : 'no', '--appendfsync', 'always');
    words.push('--key-load-delay', String(this.options.loadDelayUs ?? 0));
    this.#server = spawn('redis-server', words, { stdio: 'ignore' });
  }

  /** Whether it accepts commands. */
  answers(): Promise<boolean> {
    return redisAnswers(this.url);
  }

  /** Like a crash: immediately, without notifying its clients. */
  async killServer(): Promise<void> {
    const server = this.#server;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  }

  /** A store with its own connection, like that of another process; closed after the tests. */
  async openStore(
    partitionCount: number,
    { database = 0, ...timeouts }: TestStoreOptions = {},
  ): Promise<Store> {
    const address = { kind: 'single', url: `${this.url}/${database}` } as const;
    const store = await openStore({ address, partitionCount, ...timeouts });
    this.#stores.push(store);
    return store;
  }

  /** Like `openStore`, on an emptied database. */
  async openEmptyStore(partitionCount: number, options: TestStoreOptions = {}): Promise<Store> {
    await this.flush(options.database);
    return this.openStore(partitionCount, options);
  }

  async flush(database = 0): Promise<void> {
    const client = new Redis(this.url, { db: database });
    await client.flushdb();
    client.disconnect();
  }

  /** Closes something before the stores are closed. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  /** Can be called repeatedly. */
  async stop(): Promise<void> {
    await Promise.all(this.#ends.splice(0).map((end) => end()));
    await Promise.all(this.#stores.splice(0).map((store) => store.close()));
    await this.killServer();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Bytes that all clients of a Redis have sent to it and received from it since it started. */
export async function bytesMoved(client: RedisClient): Promise<number> {
  const info = await client.info('stats');
  const bytes = ['input', 'output'].map((way) =>
    Number(new RegExp(`total_net_${way}_bytes:([0-9]+)`).exec(info)?.[1]),
  );
  return bytes.reduce((sum, one) => sum + one, 0);
}
