/** What a worker counts, as it tells with its heartbeats once a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { keys } from '../../src/store/keys.ts';
import { unpack } from '../../src/store/pack.ts';
import type { ProcessBeat } from '../../src/store/registry.ts';
import type { BenchContext } from './bench.ts';
import type { System } from './system.ts';

/** The first heartbeat that comes may have been counted before; the second one is counted after the first. */
const beatsAwaited = 2;
const pollMs = 20;

export class WorkerFigures {
  private readonly redis: Redis;

  constructor(
    private readonly context: BenchContext,
    system: System,
  ) {
    this.redis = new Redis(system.redisUrl);
  }

  /** Everything that the worker has counted up to the call is in it. @returns in the order of the names */
  async read(names: readonly string[]): Promise<number[]> {
    let { atMs, metrics } = await this.lastBeat();
    for (let heard = 0; heard < beatsAwaited; heard += 1) {
      const knownMs = atMs;
      while (atMs === knownMs) {
        this.context.signal.throwIfAborted();
        await sleep(pollMs);
        ({ atMs, metrics } = await this.lastBeat());
      }
    }
    return names.map((name) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]));
  }

  close(): void {
    this.redis.disconnect();
  }

  private async lastBeat(): Promise<{ atMs: number; metrics: string }> {
    const beats = Object.values(await this.redis.hgetallBuffer(keys.processes)).map((packed) =>
      unpack<[atMs: number, process: ProcessBeat]>(packed),
    );
    const [atMs = 0, worker] = beats.find(([, { role }]) => role === 'worker') ?? [];
    return { atMs, metrics: worker?.metrics ?? '' };
  }
}
