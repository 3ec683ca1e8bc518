/** Requests to other processes without a reply yet. */
import { randomInt } from 'node:crypto';
import { SlotMap } from '../../lib/slot-map.ts';
import type { Reply } from './messages.ts';

/** Maximum delay in detecting a timeout. */
const sweepMs = 20;

/** The number of a request combines its serial and, in the lower digits, its slot. */
const slotsMax = 2 ** 20;
const serialsMax = 2 ** 33;

interface Pending<Body> {
  readonly number: number;
  readonly deadlineMs: number;
  readonly end: (reply: Reply<Body>) => void;
}

export class PendingReplies<Body> {
  readonly #pending = new SlotMap<Pending<Body>>();
  #timer: NodeJS.Timeout | null = null;
  /** Starts at a random number, so that a reply for a former process with this id matches no request. */
  #lastSerial = randomInt(serialsMax);

  /**
   * Adds a request.
   * @param send sends it with its number
   * @param end called with its reply or its loss, at the latest after the timeout
   */
  ask(timeoutMs: number, send: (number: number) => void, end: (reply: Reply<Body>) => void): void {
    if (this.#pending.size >= slotsMax) {
      end({ kind: 'lost', reason: 'unavailable' });
      return;
    }
    this.#lastSerial = (this.#lastSerial + 1) % serialsMax;
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    const pending = { number: 0, deadlineMs: performance.now() + timeoutMs, end };
    pending.number = this.#lastSerial * slotsMax + this.#pending.add(pending);
    send(pending.number);
  }

  /** A reply without a waiting request is dropped: the request has timed out. */
  settle(number: number, reply: Reply<Body>): void {
    const slot = number % slotsMax;
    const pending = this.#pending.at(slot);
    if (pending?.number !== number) return;
    this.#pending.remove(slot);
    pending.end(reply);
  }

  /** Ends all requests in progress as lost. */
  loseAll(reason: 'gone' | 'closed'): void {
    this.#pending.each(({ number }) => this.settle(number, { kind: 'lost', reason }));
    this.#endSweeps();
  }

  #sweep(): void {
    const nowMs = performance.now();
    this.#pending.each(({ number, deadlineMs }) => {
      if (deadlineMs <= nowMs) this.settle(number, { kind: 'lost', reason: 'late' });
    });
    if (this.#pending.size === 0) this.#endSweeps();
  }

  #endSweeps(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
