/**
 * Schedules run in threads: all processors take part, and the test runner, which follows every promise of its own thread,
 * does not see the millions of a simulation.
 */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';

export interface Task {
  readonly seeds: readonly number[];
  /** Of each seed, one after another on one platform. */
  readonly schedules: number;
  /** Name of a planted mistake. */
  readonly mistake: string | null;
}

export interface Verdict {
  /** That were run to their end, and after which everything held. */
  readonly schedules: number;
  readonly failure: { readonly message: string; readonly log: readonly string[] } | null;
}

/** New objects live briefly; with little room for them most of the time would go into moving them. */
const youngMegabytes = 64;

// Thousands of functions run a few thousand times each: to compile them all as well as can be cost more than it brought.
setFlagsFromString('--interrupt-budget=300000');

/** One thread. @throws what the thread throws */
export function inThread(task: Task): Promise<Verdict> {
  const thread = new Worker(new URL('./thread-start.mjs', import.meta.url), {
    workerData: task,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', (code) => reject(new Error(`the thread ended with ${code}`)));
  });
}

/** Seeds from a first one on, shared out to as many threads as there are processors. */
export async function inThreads(first: number, seeds: number, schedules: number): Promise<Verdict> {
  const threads = Math.min(seeds, availableParallelism());
  const verdicts = await Promise.all(
    Array.from({ length: threads }, (_, thread) => {
      const own = Array.from({ length: seeds }, (__, index) => first + index);
      return inThread({ seeds: own.filter((seed) => seed % threads === thread), schedules, mistake: null });
    }),
  );
  return {
    schedules: verdicts.reduce((sum, verdict) => sum + verdict.schedules, 0),
    failure: verdicts.find(({ failure }) => failure !== null)?.failure ?? null,
  };
}
