/** A keeper in another thread: a worker keeps its partitions however long its main thread computes, up to a limit. */
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { mainThreadStuckMs } from '../../contract/limits.ts';
import type { Lease } from '../../store/ownership/lease.ts';
import type { ProcessBeat, ProcessHost } from '../../store/processes/process-messages.ts';
import type { Keeper, KeeperEvents, KeeperTerms } from './keeper.ts';
import { type FromKeeper, type KeeperStart, sharedClockMs, type ToKeeper } from './keeper-messages.ts';

/** The thread only renews, tells and waits. */
const heapMegabytes = 64;
const endWaitMs = 1_000;

/** A thread that has not loaded its files and connected by then is replaced. The next one gets twice the time. */
const startWaitMs = 10_000;

interface Kept {
  readonly lease: Lease;
  readonly askedMs: number;
}

const threadScript = new URL('./keeper-thread-start.mjs', import.meta.url);

export interface ThreadOptions {
  /** A main thread that has not turned for so long counts as dead; absent: the documented default. */
  readonly stuckMs?: number;
  /** What the thread runs; absent: `keeper-thread-start.mjs`. */
  readonly script?: URL;
  /** How long the first thread may take to begin; absent: `startWaitMs`. */
  readonly firstWaitMs?: number;
}

export class ThreadedKeeper implements Keeper {
  readonly #start: KeeperStart;
  readonly #script: URL;
  #thread: Worker;
  #starting: NodeJS.Timeout | null = null;
  /** A machine on which a thread needs longer would never get one if each had the same time, and each costs it more. */
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

  keep(lease: Lease, askedMs: number): void {
    this.#kept.set(lease.partition, { lease, askedMs });
    this.#send({ kind: 'keep', lease, askedMs });
  }

  letGo(partition: number): void {
    this.#kept.delete(partition);
    this.#send({ kind: 'letGo', partition });
  }

  tell(beat: ProcessBeat): void {
    this.#beat = beat;
    this.#send({ kind: 'tell', beat });
  }

  turn(): void {
    this.#send({ kind: 'turn' });
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
    // What a thread said that was replaced meanwhile is not about the one that runs.
    thread.on('message', (message: FromKeeper) => {
      if (thread === this.#thread) this.#hear(message);
    });
    // An error here would come back in every replacement: the worker ends, and its supervisor starts it again.
    thread.on('error', (error) => {
      throw error;
    });
    thread.on('exit', () => this.#replace(thread, 'the thread that renews the leases ended'));
    this.#starting = setTimeout(() => {
      // Messages that came while this thread was busy are read first.
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
    this.events.trouble('leases are now renewed by another thread', new Error(reason));
    this.#thread = this.#startThread();
    thread.terminate().catch(() => {});
    for (const { lease, askedMs } of this.#kept.values()) this.#send({ kind: 'keep', lease, askedMs });
    if (this.#beat !== null) this.#send({ kind: 'tell', beat: this.#beat });
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
      case 'trouble':
        this.events.trouble(message.message, new Error(message.reason));
        return;
      case 'metrics':
        this.events.metrics().then(
          (text) => this.#send({ kind: 'metrics', text }),
          (error: unknown) => this.events.trouble('metrics could not be collected', error),
        );
    }
  }

  #send(message: ToKeeper): void {
    this.#thread.postMessage(message);
  }
}
