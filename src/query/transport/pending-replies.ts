/** Requests to other processes that are not answered yet. */
import { randomInt } from 'node:crypto';
import { SlotMap } from '../../lib/slot-map.ts';
import type { Reply } from './messages.ts';

/** How late the end of a deadline may be noticed. */
const sweepMs = 20;

/** The number of a request is its serial and, in the lower digits, its place in the slot map. */
const placesMax = 2 ** 20;
const serialsMax = 2 ** 33;

interface Pending<Body> {
  readonly number: number;
  readonly deadlineMs: number;
  readonly end: (reply: Reply<Body>) => void;
}

export class PendingReplies<Body> {
  readonly #pending = new SlotMap<Pending<Body>>();
  #timer: NodeJS.Timeout | null = null;
  /** Starts at a random number, so that a reply meant for a former process of this id answers nothing. */
  #lastSerial = randomInt(serialsMax);

  /**
   * Adds a request.
   * @param send sends it under its number
   * @param end called with its reply or its loss, at the latest when the time is over
   */
  ask(timeoutMs: number, send: (number: number) => void, end: (reply: Reply<Body>) => void): void {
    if (this.#pending.size >= placesMax) {
      end({ kind: 'lost', reason: 'unavailable' });
      return;
    }
    this.#lastSerial = (this.#lastSerial + 1) % serialsMax;
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    const pending = { number: 0, deadlineMs: performance.now() + timeoutMs, end };
    pending.number = this.#lastSerial * placesMax + this.#pending.add(pending);
    send(pending.number);
  }

  /** A reply without a waiting request is dropped: the request timed out, or was sent twice because of a reconnect. */
  settle(number: number, reply: Reply<Body>): void {
    const place = number % placesMax;
    const pending = this.#pending.at(place);
    if (pending?.number !== number) return;
    this.#pending.remove(place);
    pending.end(reply);
  }

  /** Ends all that is under way as lost. */
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
