/** A private Redis for one test file: empty, on a free port, its files in a temporary folder, gone with the tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { Redis } from 'ioredis';
import { openStore, type Store } from '../../src/store/store.ts';
import { until } from './until.ts';

/** A port that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface TestRedisOptions {
  /** Keep an append-only file, so that a killed Redis comes back with its data. */
  readonly durable?: boolean;
}

export class TestRedis {
  #server: ChildProcess | null = null;
  readonly #stores: Store[] = [];

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: TestRedisOptions,
  ) {}

  /** Started, and stopped after the tests of the file that calls it. */
  static async start(options: TestRedisOptions = {}): Promise<TestRedis> {
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-redis-'));
    const redis = new TestRedis(await freePort(), folder, options);
    await redis.startServer();
    after(() => redis.stop());
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server again after `killServer`, and waits until it answers. */
  async startServer(): Promise<void> {
    const words = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder];
    words.push('--appendonly', this.options.durable ? 'yes' : 'no', '--appendfsync', 'always');
    this.#server = spawn('redis-server', words, { stdio: 'ignore' });
    await until('Redis answers', () => this.#answers());
  }

  /** As a crash does: at once, without a word to its clients. */
  async killServer(): Promise<void> {
    const server = this.#server;
    if (server === null || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  }

  async #answers(): Promise<boolean> {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.ping()) === 'PONG';
    } catch {
      return false;
    } finally {
      client.disconnect();
    }
  }

  /** A store on a connection of its own, as another process would have; closed after the tests. */
  async openStore(partitionCount: number, commandTimeoutMs?: number): Promise<Store> {
    const address = { kind: 'single', url: this.url } as const;
    const timeout = commandTimeoutMs === undefined ? {} : { commandTimeoutMs };
    const store = await openStore({ address, partitionCount, ...timeout });
    this.#stores.push(store);
    return store;
  }

  /** As `openStore`, on an emptied Redis. */
  async openEmptyStore(partitionCount: number): Promise<Store> {
    await this.flush();
    return this.openStore(partitionCount);
  }

  async flush(): Promise<void> {
    const client = new Redis(this.url);
    await client.flushall();
    client.disconnect();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await this.killServer();
    await rm(this.folder, { recursive: true, force: true });
  }
}
