/** Keeps a worker alive from another thread: however long the main thread computes, up to a limit, it keeps its partitions. */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { mainThreadStuckMs } from '../contract/limits.ts';
import type { ProcessHost } from '../store/channels.ts';
import type { Lease } from '../store/lease.ts';
import type { ProcessBeat } from '../store/registry.ts';
import type { Keeper, KeeperEvents, KeeperTerms } from './keeper.ts';
import { type FromKeeper, type KeeperStart, sharedClockMs, type ToKeeper } from './keeper-messages.ts';

/** It renews, tells and waits. */
const heapMegabytes = 64;
const endWaitMs = 1_000;

export class ThreadedKeeper implements Keeper {
  readonly #thread: Worker;

  /** @param stuckMs a main thread that has not turned for so long counts as dead */
  constructor(
    { address, channels }: ProcessHost,
    { leaseMs, ends }: KeeperTerms,
    private readonly events: KeeperEvents,
    stuckMs = mainThreadStuckMs,
  ) {
    const clockOffsetMs = performance.now() - sharedClockMs();
    const workerData: KeeperStart = { address, channels, leaseMs, ends: ends.shared, stuckMs, clockOffsetMs };
    this.#thread = new Worker(new URL('./keeper-thread-start.mjs', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    this.#thread.on('message', (message: FromKeeper) => this.#hear(message));
    // Without it the worker would lose its partitions again and again: it ends, and is started anew.
    this.#thread.on('error', (error) => {
      throw error;
    });
  }

  keep(lease: Lease, askedMs: number): void {
    this.#send({ kind: 'keep', lease, askedMs });
  }

  letGo(partition: number): void {
    this.#send({ kind: 'letGo', partition });
  }

  tell(beat: ProcessBeat): void {
    this.#send({ kind: 'tell', beat });
  }

  turn(): void {
    this.#send({ kind: 'turn' });
  }

  async close(): Promise<void> {
    this.#send({ kind: 'close' });
    const late = new AbortController();
    await Promise.race([
      once(this.#thread, 'exit'),
      sleep(endWaitMs, undefined, { signal: late.signal }).catch(() => {}),
    ]);
    late.abort();
    await this.#thread.terminate();
  }

  #hear(message: FromKeeper): void {
    switch (message.kind) {
      case 'lost':
        this.events.lost(message.lease);
        return;
      case 'trouble':
        this.events.trouble(message.message, new Error(message.reason));
        return;
      case 'metrics':
        this.events.metrics().then(
          (text) => this.#send({ kind: 'metrics', text }),
          (error: unknown) => this.events.trouble('metrics were not made', error),
        );
    }
  }

  #send(message: ToKeeper): void {
    this.#thread.postMessage(message);
  }
}
