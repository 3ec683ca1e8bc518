/** What a worker counts, as it tells with its heartbeats once a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type LiveProcess, liveProcesses } from '../../src/store/registry.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { BenchContext } from './bench.ts';
import type { System } from './system.ts';

/** The first heartbeat that comes may have been counted before; the second one is counted after the first. */
const beatsAwaited = 2;
const pollMs = 20;

export class WorkerFigures {
  private constructor(
    private readonly context: BenchContext,
    private readonly store: Store,
  ) {}

  static async open(context: BenchContext, system: System): Promise<WorkerFigures> {
    return new WorkerFigures(context, await openStore(system.storeOptions));
  }

  /** Everything that the worker has counted up to the call is in it. @returns in the order of the names */
  async read(names: readonly string[]): Promise<number[]> {
    let worker = await this.worker();
    for (let heard = 0; heard < beatsAwaited; heard += 1) {
      const known = worker;
      while (worker?.atMs === known?.atMs) {
        this.context.signal.throwIfAborted();
        await sleep(pollMs);
        worker = await this.worker();
      }
    }
    const metrics = worker?.metrics ?? '';
    return names.map((name) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]));
  }

  async close(): Promise<void> {
    await this.store.close();
  }

  private async worker(): Promise<LiveProcess | undefined> {
    return (await liveProcesses(this.store)).find(({ role }) => role === 'worker');
  }
}
