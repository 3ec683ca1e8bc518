/**
 * Schedules run in threads, so that all processors are used, and the test runner, which tracks every promise of its own thread,
 * does not track the millions of promises of a simulation. A thread that has run schedules runs the next ones faster.
 */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type { LeafChanges } from './simulation.ts';

export interface Task {
  /** Run one after another, until one fails. */
  readonly seeds: readonly number[];
  /** Number of schedules per seed, run one after another on one platform. */
  readonly schedules: number;
  /** Name of a planted bug. */
  readonly mistake: string | null;
}

export interface Verdict {
  /** Number of schedules without a violation. */
  readonly schedules: number;
  /** Changes of leaves in seeds without a failure. */
  readonly leaves: LeafChanges;
  readonly failure: { readonly message: string; readonly log: readonly string[] } | null;
}

/** Most objects are short-lived; in a small young generation, copying them would take most of the time. */
const youngMegabytes = 64;

// Thousands of functions run a few thousand times each: optimizing all of them cost more than it saved.
setFlagsFromString('--always-sparkplug');
setFlagsFromString('--interrupt-budget=300000');

/** A pool with one thread per processor. */
export class Threads {
  readonly count = availableParallelism();
  readonly #idle: Worker[] = [];
  readonly #waiting: ((thread: Worker) => void)[] = [];
  readonly #all: Worker[] = [];

  /** Starts when a thread is free. @throws what the thread throws */
  async run(task: Task): Promise<Verdict> {
    const thread = await this.#take();
    try {
      const answer = once(thread, 'message') as Promise<[Verdict]>;
      thread.postMessage(task);
      return (await answer)[0];
    } finally {
      this.#release(thread);
    }
  }

  /** Runs successive seeds, distributed over all threads. */
  async runSeeds(first: number, seeds: number, schedules: number): Promise<Verdict> {
    const verdicts = await Promise.all(
      Array.from({ length: Math.min(seeds, this.count) }, (_, thread) => {
        const own = Array.from({ length: seeds }, (__, index) => first + index);
        return this.run({
          seeds: own.filter((seed) => (seed - first) % this.count === thread),
          schedules,
          mistake: null,
        });
      }),
    );
    const sum = (of: (verdict: Verdict) => number) =>
      verdicts.reduce((before, verdict) => before + of(verdict), 0);
    return {
      schedules: sum(({ schedules }) => schedules),
      leaves: { cut: sum(({ leaves }) => leaves.cut), joined: sum(({ leaves }) => leaves.joined) },
      failure: verdicts.find(({ failure }) => failure !== null)?.failure ?? null,
    };
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.terminate()));
  }

  #take(): Promise<Worker> | Worker {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    if (this.#all.length < this.count) return this.#start();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #start(): Worker {
    const thread = new Worker(new URL('./thread-start.mjs', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
    });
    this.#all.push(thread);
    return thread;
  }

  #release(thread: Worker): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(thread);
    else next(thread);
  }
}
