/** How long a single turn blocked this process' event loop. */
import { existsSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { TestContext } from 'node:test';

/** On Linux: the processor time of a process' first thread, which runs the event loop, in ns; then its waits. */
const mainThreadFile = '/proc/self/schedstat';
const spentMs = existsSync(mainThreadFile) ? mainThreadMs : processMs;

function mainThreadMs(): number {
  return Number(readFileSync(mainThreadFile, 'latin1').split(' ', 1)) / 1_000_000;
}

/** Checking every turn would keep a processor busy, which the tested code needs. */
const lookEveryMs = 1;

/** On other systems, the threads of the garbage collector and the compiler count too. */
function processMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/**
 * Processor time between two checks of the event loop, one after each turn that takes longer than `lookEveryMs`, at most the
 * elapsed time. Unlike the delay of a timer, it does not grow while other processes use the processor.
 */
export class LongestTurn {
  #longestMs = 0;
  #stopped = false;
  #spentMs = spentMs();
  #atMs = performance.now();

  /** @param context the monitor stops at the end of this test, so that it does not keep a failed process open */
  constructor(context: TestContext) {
    context.after(() => {
      this.#stopped = true;
    });
    this.#look();
  }

  #look(): void {
    const nowSpentMs = spentMs();
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, Math.min(nowSpentMs - this.#spentMs, nowMs - this.#atMs));
    this.#spentMs = nowSpentMs;
    this.#atMs = nowMs;
    if (!this.#stopped) setTimeout(() => this.#look(), lookEveryMs);
  }

  /** Stops the monitor. @returns milliseconds */
  stop(): number {
    this.#stopped = true;
    this.#look();
    return this.#longestMs;
  }
}
