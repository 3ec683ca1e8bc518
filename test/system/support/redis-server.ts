/** A Redis that keeps everything it acknowledged, and survives being killed. */
import { mkdirSync } from 'node:fs';
import { Redis } from 'ioredis';
import { freePort } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { SystemProcess } from './process.ts';

/** Ends Redis when its standard input does, for whoever started it is gone then. `exec` keeps the process id. */
export const tiedRedisServer = `
exec 3<&0 </dev/null
( read -r _ <&3; kill -TERM $$ ) >/dev/null 2>&1 &
exec redis-server "$@" 3<&-
`;

export class RedisServer {
  readonly process: SystemProcess;

  private constructor(
    readonly port: number,
    folder: string,
  ) {
    const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
    words.push('--appendonly', 'yes', '--appendfsync', process.env.APPEND_FSYNC ?? 'always');
    this.process = new SystemProcess('redis', () => ({
      program: 'sh',
      words: ['-c', tiedRedisServer, 'redis', ...words],
      env: process.env,
    }));
  }

  static async start(folder: string): Promise<RedisServer> {
    mkdirSync(folder, { recursive: true });
    const server = new RedisServer(await freePort(), folder);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, for the first time or again, and waits until it has loaded its file. */
  async start(): Promise<void> {
    this.process.start();
    await until('Redis answers', () => this.#answers(), 30_000);
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
}
