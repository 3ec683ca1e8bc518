/**
 * Notices when requests keep the event loop for long. uWebSockets.js reads up to 512 KB of a connection at a time and
 * calls us for every request in it. So thousands of pipelined requests would be answered before anybody else's first.
 */
import { requestsPerLook, requestTurnMsMax } from '../../contract/limits.ts';

export class LongTurns {
  /** Requests since the last look at the clock. */
  #requests = 0;
  /** When the clock was first looked at in this turn; null: not yet. */
  #startedMs: number | null = null;
  #isLong = false;

  /** Counts a request. @returns whether its answer must wait for the next turn of the event loop */
  isLong(): boolean {
    if (this.#isLong) return true;
    this.#requests += 1;
    if (this.#requests < requestsPerLook) return false;
    this.#requests = 0;
    return this.#look();
  }

  #look(): boolean {
    const nowMs = performance.now();
    if (this.#startedMs === null) {
      this.#startedMs = nowMs;
      setImmediate(() => this.#end());
    } else this.#isLong = nowMs - this.#startedMs >= requestTurnMsMax;
    return this.#isLong;
  }

  #end(): void {
    this.#startedMs = null;
    this.#isLong = false;
    this.#requests = 0;
  }
}
