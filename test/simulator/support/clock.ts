/**
 * Virtual time: nothing waits, and whoever asks for the time is told that of the simulation. Timers, and all else that
 * the simulation puts off, happen one after the other in the order of their time; those of the same moment in the order
 * in which they were asked for.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';

interface Event {
  readonly atMs: number;
  readonly order: number;
  act: (() => void) | null;
}

/** What the code under test holds as a timer. */
class VirtualTimer {
  event: Event | null = null;

  constructor(private readonly clock: VirtualClock) {}

  cancel(): void {
    if (this.event !== null) this.event.act = null;
    this.event = null;
  }

  again(delayMs: number, act: () => void): void {
    this.event = this.clock.after(delayMs, act);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

const require = createRequire(import.meta.url);
const immediate = setImmediate;

export class VirtualClock {
  readonly #heap: Event[] = [];
  #nowMs = 1_000_000;
  #order = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, act: () => void): Event {
    this.#order += 1;
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), order: this.#order, act };
    push(this.#heap, event);
    return event;
  }

  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /**
   * Lets things happen until the promise is settled.
   * @throws what it throws; Error when nothing is left to happen, or it takes longer than `limitMs`
   */
  async run<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    const endMs = this.#nowMs + limitMs;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await settled();
    while (!isSettled) {
      const event = pop(this.#heap);
      if (event === null) throw new Error('nothing is left that could happen');
      if (event.act === null) continue;
      if (event.atMs > endMs) throw new Error(`it goes on for longer than ${limitMs} ms`);
      this.#nowMs = event.atMs;
      event.act();
      await settled();
    }
    return promise;
  }

  /** Forgets everything that was still to happen. */
  clear(): void {
    this.#heap.length = 0;
  }

  /** Takes the place of the clock and the timers of this process. @returns puts them back */
  install(): () => void {
    const promises = require('node:timers/promises') as { setTimeout: unknown };
    const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
    const { now } = Date;
    const former = promises.setTimeout;
    const start = (act: (...words: unknown[]) => void, delayMs = 1, ...words: unknown[]) => {
      const timer = new VirtualTimer(this);
      timer.again(delayMs, () => {
        timer.event = null;
        act(...words);
      });
      return timer;
    };
    const repeat = (act: (...words: unknown[]) => void, delayMs = 1, ...words: unknown[]) => {
      const timer = new VirtualTimer(this);
      const tick = () => {
        timer.again(delayMs, tick);
        act(...words);
      };
      timer.again(delayMs, tick);
      return timer;
    };
    const stop = (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.cancel();
    };
    Object.assign(globalThis, {
      setTimeout: start,
      setInterval: repeat,
      clearTimeout: stop,
      clearInterval: stop,
    });
    Date.now = () => Math.floor(this.#nowMs);
    Object.defineProperty(performance, 'now', { value: () => this.#nowMs, configurable: true });
    promises.setTimeout = (delayMs: number, value: unknown) => this.wait(delayMs).then(() => value);
    syncBuiltinESMExports();
    return () => {
      Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
      Date.now = now;
      Reflect.deleteProperty(performance, 'now');
      promises.setTimeout = former;
      syncBuiltinESMExports();
    };
  }
}

/** Everything that follows from the last event at this very moment has happened: two turns of the real event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => immediate(resolve));
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above];
    if (other === undefined || !isBefore(event, other)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | null {
  const first = heap[0];
  const last = heap.pop();
  if (first === undefined || last === undefined) return null;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    const [left, right] = [heap[below], heap[below + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) below += 1;
    const child = heap[below];
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = last;
  return first;
}
