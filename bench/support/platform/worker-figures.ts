/** Reads the counters of a worker. */
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import type { BenchContext } from '../bench.ts';
import type { System } from './system.ts';

export class WorkerFigures {
  private constructor(
    private readonly context: BenchContext,
    private readonly store: Store,
  ) {}

  static async open(context: BenchContext, system: System): Promise<WorkerFigures> {
    return new WorkerFigures(context, await openStore(system.storeOptions));
  }

  /** Reads current values of counters. @returns values in the order of the names */
  async read(names: readonly string[]): Promise<number[]> {
    this.context.signal.throwIfAborted();
    const worker = (await liveProcesses(this.store)).find(({ role }) => role === 'worker');
    const texts = await this.store.registry.metrics('bench');
    const metrics = texts.find((text) => text.process === worker?.id)?.text ?? '';
    return names.map((name) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1]));
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
