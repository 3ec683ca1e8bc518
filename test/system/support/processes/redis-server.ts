/** A Redis that persists all writes that it acknowledges, so that it can be killed and restarted. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ownPort } from '../../../support/own-port.ts';
import { redisAnswers } from '../../../support/redis-answers.ts';
import { redisFolder } from '../../../support/redis-folder.ts';
import { until } from '../../../support/until.ts';
import { SystemProcess } from './process.ts';
import { SyncedFile } from './synced-file.ts';

export interface RedisOptions {
  /** When its file is synced to the disk. Defaults to `APPEND_FSYNC`, or else to always. */
  readonly appendFsync?: 'always' | 'everysec';
  /** Track which part of its file is on the disk, so that a power cut can be simulated. */
  readonly hasPowerCuts?: boolean;
  /** Port of the primary that it replicates. */
  readonly replicaOf?: number;
}

/**
 * Ends Redis when its standard input closes, because the process that started it is gone then. `exec` keeps the process id.
 * With a limit on file sizes (`prlimit --fsize`) its writes fail, as on a full disk, but it does not end.
 */
export const tiedRedisServer = `
trap '' XFSZ
exec 3<&0 </dev/null
( read -r _ <&3; kill -TERM $$ ) >/dev/null 2>&1 &
exec "$@" 3<&-
`;

export class RedisServer {
  readonly process: SystemProcess;
  readonly #file: SyncedFile | null;

  private constructor(
    readonly port: number,
    /** Folder of its files. */
    readonly dir: string,
    { appendFsync, hasPowerCuts = false, replicaOf }: RedisOptions,
  ) {
    const file = path.join(dir, 'appendonlydir', 'appendonly.aof.1.incr.aof');
    this.#file = hasPowerCuts ? new SyncedFile(file, path.join(dir, 'trace')) : null;
    const words = [...(this.#file?.commandPrefix ?? []), 'redis-server', '--port', String(port)];
    words.push('--bind', '127.0.0.1', '--save', '', '--dir', dir);
    words.push('--appendonly', 'yes', '--appendfsync', appendFsync ?? process.env.APPEND_FSYNC ?? 'always');
    if (replicaOf !== undefined) words.push('--replicaof', `127.0.0.1 ${replicaOf}`);
    // Otherwise the primary delays a full sync, to wait for more replicas.
    words.push('--repl-diskless-sync-delay', '0');
    if (hasPowerCuts) words.push('--auto-aof-rewrite-percentage', '0');
    this.process = new SystemProcess('redis', () => ({
      program: 'sh',
      words: ['-c', tiedRedisServer, 'redis', ...words],
      env: process.env,
    }));
  }

  /** Starts a Redis, which the caller stops. */
  static async start(options: RedisOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await ownPort(), await redisFolder(), options);
    await server.start();
    return server;
  }

  /** Kills it, and removes its files. */
  async stop(): Promise<void> {
    await this.process.signal('SIGKILL');
    await rm(this.dir, { recursive: true, force: true });
  }

  /** Kills it, and truncates its file to what was synced. @returns the number of bytes removed */
  async cutPower(): Promise<number> {
    if (this.#file === null) throw new Error('this Redis was started without hasPowerCuts');
    const follower = this.#file.followerOf(this.process.pid);
    await this.process.signal('SIGKILL');
    return await this.#file.cut(follower);
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it, for the first time or again, and waits until it has loaded its file. */
  async start(): Promise<void> {
    this.process.start();
    await until('Redis answers', () => redisAnswers(this.url));
  }
}
