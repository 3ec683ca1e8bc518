/**
 * Virtual time: nothing waits, and all clocks return the simulated time. Timers, and everything else that the simulation
 * delays, run one after the other in the order of their time; those with the same time in the order of their creation.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';

interface Event {
  readonly atMs: number;
  readonly order: number;
  act: (() => void) | null;
}

/** What the code under test deferred with `setImmediate`. */
interface Immediate {
  act: (() => void) | null;
}

/** The timer handle of the code under test. */
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
  readonly #immediates: Immediate[] = [];
  #nowMs = 1_000_000;
  #redisAheadMs = 0;
  #order = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The clock of Redis, which can be set. */
  get redisMs(): number {
    return this.#nowMs + this.#redisAheadMs;
  }

  setRedis(aheadMs: number): void {
    this.#redisAheadMs = aheadMs;
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

  /** @throws AbortError */
  #waitUnless(signal: AbortSignal | undefined, delayMs: number): Promise<void> {
    if (signal === undefined) return this.wait(delayMs);
    return new Promise((resolve, reject) => {
      const abort = () => {
        event.act = null;
        reject(signal.reason);
      };
      const event = this.after(delayMs, () => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  }

  /**
   * Runs events until the promise is settled.
   * @throws what it throws; Error if no events are left, or it takes longer than `limitMs`
   */
  async run<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    const endMs = this.#nowMs + limitMs;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await ownTurn(() => {
      this.#finishMoment();
      while (!isSettled) {
        const event = pop(this.#heap);
        if (event === null) throw new Error('nothing is left that could happen');
        if (event.act === null) continue;
        if (event.atMs > endMs) throw new Error(`it goes on for longer than ${limitMs} ms`);
        this.#nowMs = event.atMs;
        event.act();
        this.#finishMoment();
      }
    });
    return promise;
  }

  /** Runs everything that follows from the last event without a delay: promise reactions, then immediates. */
  #finishMoment(): void {
    runPromises();
    while (this.#immediates.length > 0) {
      for (const { act } of this.#immediates.splice(0)) {
        act?.();
        runPromises();
      }
    }
  }

  /** Drops all pending events. */
  clear(): void {
    this.#heap.length = 0;
  }

  /** Replaces the clock and the timers of this process. @returns restores them */
  install(): () => void {
    const promises = require('node:timers/promises') as { setTimeout: unknown; setImmediate: unknown };
    const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
    const { now } = Date;
    const former = { ...promises };
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
    const putOff = (act: (...words: unknown[]) => void, ...words: unknown[]) => {
      const put: Immediate = { act: () => act(...words) };
      this.#immediates.push(put);
      return put;
    };
    const takeBack = (put: Immediate | undefined) => {
      if (put !== undefined) put.act = null;
    };
    Object.assign(globalThis, {
      setTimeout: start,
      setInterval: repeat,
      clearTimeout: stop,
      clearInterval: stop,
      setImmediate: putOff,
      clearImmediate: takeBack,
    });
    Date.now = () => Math.floor(this.#nowMs);
    Object.defineProperty(performance, 'now', { value: () => this.#nowMs, configurable: true });
    promises.setTimeout = (delayMs: number, value: unknown, options?: { readonly signal?: AbortSignal }) =>
      this.#waitUnless(options?.signal, delayMs).then(() => value);
    promises.setImmediate = (value: unknown) => new Promise((resolve) => void putOff(resolve, value));
    syncBuiltinESMExports();
    return () => {
      Object.assign(globalThis, {
        setTimeout,
        setInterval,
        clearTimeout,
        clearInterval,
        setImmediate,
        clearImmediate,
      });
      Date.now = now;
      Reflect.deleteProperty(performance, 'now');
      Object.assign(promises, former);
      syncBuiltinESMExports();
    };
  }
}

/** Runs all deferred promise reactions and `process.nextTick` callbacks, like Node between two timers. */
const runPromises = (process as unknown as { _tickCallback(): void })._tickCallback;

/** Runs in a turn of the real event loop, outside of promise reactions, because otherwise none could run in between. */
function ownTurn(act: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    immediate(() => {
      try {
        resolve(act());
      } catch (error) {
        reject(error);
      }
    });
  });
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
