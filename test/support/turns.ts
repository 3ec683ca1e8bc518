/** How long this process' event loop was kept by one thing. */
import { performance } from 'node:perf_hooks';

/**
 * Processor time between two turns of the event loop, at most the time that passed: unlike the delay of a timer, it
 * does not grow while others have the processor.
 */
export class LongestTurn {
  #longestMs = 0;
  #stopped = false;
  #usage = process.cpuUsage();
  #atMs = performance.now();

  constructor() {
    this.#look();
  }

  #look(): void {
    const { user, system } = process.cpuUsage(this.#usage);
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, Math.min((user + system) / 1000, nowMs - this.#atMs));
    this.#usage = process.cpuUsage();
    this.#atMs = nowMs;
    if (!this.#stopped) setImmediate(() => this.#look());
  }

  /** Ends the watch. @returns milliseconds */
  stop(): number {
    this.#stopped = true;
    this.#look();
    return this.#longestMs;
  }
}
