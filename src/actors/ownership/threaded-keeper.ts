/** A keeper on another thread: a worker keeps its partitions while its main thread is busy, up to a limit. */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { mainThreadStuckMs } from '../../contract/limits.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import type { ProcessBeat, ProcessHost } from '../../store/processes/process-messages.ts';
import {
  type FromKeeper,
  type Keeper,
  type KeeperEvents,
  type KeeperStart,
  type KeeperTerms,
  sharedClockMs,
  type ToKeeper,
} from './keeper.ts';

/** The thread only renews leases and sends heartbeats. */
const heapMegabytes = 64;
const endWaitMs = 1_000;

/** A thread that has not started and connected by then is replaced. The next one gets twice the time. */
const startWaitMs = 10_000;

interface Kept {
  readonly lease: Lease;
  readonly requestedMs: number;
}

const threadScript = new URL('./keeper-thread-start.mjs', import.meta.url);

export interface ThreadOptions {
  /** Without `markAlive` for this long, the main thread counts as dead; absent for the documented default. */
  readonly stuckMs?: number;
  /** The script of the thread; absent for `keeper-thread-start.mjs`. */
  readonly script?: URL;
  /** How long the first thread may take to start; absent for `startWaitMs`. */
  readonly firstWaitMs?: number;
}

export class ThreadedKeeper implements Keeper {
  readonly #start: KeeperStart;
  readonly #script: URL;
  #thread: Worker;
  #starting: NodeJS.Timeout | null = null;
  /** Doubled for each replacement. With a fixed time, a slow machine would replace threads forever. */
  #startWaitMs: number;
  /** The leases that a replacement has to renew. */
  readonly #kept = new Map<number, Kept>();
  #beat: ProcessBeat | null = null;
  #isClosing = false;

  constructor(
    { address, channels }: ProcessHost,
    { leaseMs, ends }: KeeperTerms,
    private readonly events: KeeperEvents,
    { stuckMs = mainThreadStuckMs, script = threadScript, firstWaitMs = startWaitMs }: ThreadOptions = {},
  ) {
    this.#script = script;
    this.#startWaitMs = firstWaitMs;
    const clockOffsetMs = performance.now() - sharedClockMs();
    this.#start = { address, channels, leaseMs, ends: ends.shared, stuckMs, clockOffsetMs };
    this.#thread = this.#startThread();
  }

  keep(lease: Lease, requestedMs: number): void {
    this.#kept.set(lease.partition, { lease, requestedMs });
    this.#send({ kind: 'keep', lease, requestedMs });
  }

  stopRenewing(partition: number): void {
    this.#kept.delete(partition);
    this.#send({ kind: 'stopRenewing', partition });
  }

  sendBeat(beat: ProcessBeat): void {
    this.#beat = beat;
    this.#send({ kind: 'beat', beat });
  }

  markAlive(): void {
    this.#send({ kind: 'alive' });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#starting !== null) clearTimeout(this.#starting);
    this.#send({ kind: 'close' });
    const late = new AbortController();
    await Promise.race([
      once(this.#thread, 'exit'),
      sleep(endWaitMs, undefined, { signal: late.signal }).catch(() => {}),
    ]);
    late.abort();
    await this.#thread.terminate();
  }

  #startThread(): Worker {
    const thread = new Worker(this.#script, {
      workerData: this.#start,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
    });
    // Ignore messages of a replaced thread.
    thread.on('message', (message: FromKeeper) => {
      if (thread === this.#thread) this.#hear(message);
    });
    // A replacement would fail with the same error. The worker crashes, and its supervisor restarts it.
    thread.on('error', (error) => {
      throw error;
    });
    thread.on('exit', () => this.#replace(thread, 'the thread that renews the leases ended'));
    this.#starting = setTimeout(() => {
      // First process messages that arrived while this thread was busy.
      setImmediate(() => setImmediate(() => this.#giveUp(thread)));
    }, this.#startWaitMs);
    return thread;
  }

  #giveUp(thread: Worker): void {
    if (this.#starting === null) return;
    const waitedMs = this.#startWaitMs;
    this.#startWaitMs *= 2;
    this.#replace(thread, `the thread that renews the leases was not ready after ${waitedMs} ms`);
  }

  #replace(thread: Worker, reason: string): void {
    if (this.#isClosing || thread !== this.#thread) return;
    if (this.#starting !== null) clearTimeout(this.#starting);
    this.events.error('leases are now renewed by another thread', new Error(reason));
    this.#thread = this.#startThread();
    thread.terminate().catch(() => {});
    for (const { lease, requestedMs } of this.#kept.values())
      this.#send({ kind: 'keep', lease, requestedMs });
    if (this.#beat !== null) this.#send({ kind: 'beat', beat: this.#beat });
  }

  #hear(message: FromKeeper): void {
    switch (message.kind) {
      case 'started':
        if (this.#starting !== null) clearTimeout(this.#starting);
        this.#starting = null;
        return;
      case 'lost':
        this.events.lost(message.lease);
        return;
      case 'error':
        this.events.error(message.message, new Error(message.reason));
        return;
      case 'metrics':
        this.events.metrics().then(
          (text) => this.#send({ kind: 'metrics', text }),
          (error: unknown) => this.events.error('metrics could not be collected', error),
        );
    }
  }

  #send(message: ToKeeper): void {
    this.#thread.postMessage(message);
  }
}
