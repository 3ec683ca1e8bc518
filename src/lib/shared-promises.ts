import { performance } from 'node:perf_hooks';

/** Shares the result of an async read among all callers within a time. A failure is not cached. */
export class CachedPromise<T> {
  #promise: Promise<T> | null = null;
  #startedMs = 0;

  /** @param keptMs how long a result is shared, counted from the start of the read */
  constructor(
    private readonly read: () => Promise<T>,
    private readonly keptMs: number,
  ) {}

  get(): Promise<T> {
    const nowMs = performance.now();
    if (this.#promise !== null && nowMs < this.#startedMs + this.keptMs) return this.#promise;
    const promise = this.read();
    this.#promise = promise;
    this.#startedMs = nowMs;
    promise.catch(() => {
      if (this.#promise === promise) this.#promise = null;
    });
    return promise;
  }
}

/**
 * Shares work: a call during the work gets its result.
 * @param make starts the work; all waiting callers get its error
 */
export function oneFlight<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let flight: Promise<Result> | null = null;
  return () => {
    flight ??= make().finally(() => {
      flight = null;
    });
    return flight;
  };
}

/**
 * Coalesces concurrent reads. A call during a read of the same name shares the next read, which starts after all calls that
 * share it, so no caller gets a state older than its call.
 */
export class SharedReads<Result> {
  /** Settle when the read has ended, even if it failed. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<Result>>();

  /** @throws what `read` throws, for all callers that share it */
  get(name: string, read: () => Promise<Result>): Promise<Result> {
    const waiting = this.#next.get(name);
    if (waiting !== undefined) return waiting;
    const underWay = this.#underWay.get(name);
    if (underWay === undefined) return this.#begin(name, read);
    const next = underWay.then(() => {
      this.#next.delete(name);
      return this.#begin(name, read);
    });
    this.#next.set(name, next);
    return next;
  }

  #begin(name: string, read: () => Promise<Result>): Promise<Result> {
    const reading = read();
    const end = () => void this.#underWay.delete(name);
    this.#underWay.set(name, reading.then(end, end));
    return reading;
  }
}
