/** The time limit of a call of a script, which begins with `scripts/parts/deadline.lua`. */
import { performance } from 'node:perf_hooks';
import { ServerClock } from './server-clock.ts';

/** By connection, because the next one may be to another Redis with another clock. */
const clocks = new WeakMap<object, ServerClock>();
/** A clock that was read longer ago is read again, because it may have been set since. */
const freshMs = 10_000;

export class TimeLimit {
  #connection: object | null = null;

  /** @param endsMs on the clock of `performance.now()` */
  constructor(private readonly endsMs: number) {}

  /** Infinite without a limit. */
  get leftMs(): number {
    return Math.max(0, this.endsMs - performance.now());
  }

  /** True once the call was written to a connection, so that Redis may have got it, or may still get it. */
  get isSent(): boolean {
    return this.#connection !== null;
  }

  /**
   * The deadline of the call on a connection that it is written to, in whole milliseconds on the clock of Redis. Empty without
   * a limit. While the clock is not known, each call is late, and its reply has the time.
   */
  deadlineOn(connection: object): string {
    this.#connection = connection;
    if (this.endsMs === Number.POSITIVE_INFINITY) return '';
    const clock = clocks.get(connection);
    if (clock === undefined || clock.ageMs > freshMs) return '0';
    return String(Math.floor(clock.at(this.endsMs)));
  }

  /** @param clockMs the time of Redis in a reply that has just arrived */
  setClock(clockMs: number): void {
    if (this.#connection === null) return;
    const clock = clocks.get(this.#connection) ?? new ServerClock();
    clocks.set(this.#connection, clock);
    clock.set(clockMs);
  }
}
