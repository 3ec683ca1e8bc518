/** What was asked of other processes and not answered yet. */
import { randomInt } from 'node:crypto';
import type { Reply } from './messages.ts';

/** How exactly deadlines are kept. */
const sweepMs = 20;

interface Pending {
  readonly deadlineMs: number;
  readonly resolve: (reply: Reply) => void;
}

export class PendingReplies {
  readonly #pending = new Map<number, Pending>();
  #timer: NodeJS.Timeout | null = null;
  /** Starts anywhere, so that a reply meant for a former process of this id answers nothing. */
  #lastNumber = randomInt(2 ** 47);

  /**
   * Something is asked.
   * @param send asks it, by its number
   * @returns what becomes of it, at the latest when the time is over
   */
  ask(timeoutMs: number, send: (number: number) => void): Promise<Reply> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return new Promise((resolve) => {
      this.#pending.set(number, { deadlineMs: performance.now() + timeoutMs, resolve });
      send(number);
    });
  }

  /** A reply that nobody waits for any more is dropped: its request was late, or was sent twice by a reconnect. */
  settle(number: number, reply: Reply): void {
    const pending = this.#pending.get(number);
    if (pending === undefined) return;
    this.#pending.delete(number);
    pending.resolve(reply);
  }

  /** Ends all that is under way as lost. */
  loseAll(reason: 'gone' | 'closed'): void {
    for (const number of [...this.#pending.keys()]) this.settle(number, { kind: 'lost', reason });
    this.#endSweeps();
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const [number, { deadlineMs }] of this.#pending) {
      if (deadlineMs <= nowMs) this.settle(number, { kind: 'lost', reason: 'late' });
    }
    if (this.#pending.size === 0) this.#endSweeps();
  }

  #endSweeps(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
