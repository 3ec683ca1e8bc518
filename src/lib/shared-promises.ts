import { performance } from 'node:perf_hooks';

/** Shares the result of an async read among all callers within a time. A failure is not cached. */
export class CachedPromise<T> {
  #looking: Promise<T> | null = null;
  #beganMs = 0;

  /** @param keptMs how long one look serves, from its beginning */
  constructor(
    private readonly look: () => Promise<T>,
    private readonly keptMs: number,
  ) {}

  get(): Promise<T> {
    const nowMs = performance.now();
    if (this.#looking !== null && nowMs < this.#beganMs + this.keptMs) return this.#looking;
    const looking = this.look();
    this.#looking = looking;
    this.#beganMs = nowMs;
    looking.catch(() => {
      if (this.#looking === looking) this.#looking = null;
    });
    return looking;
  }
}

/**
 * Shares work: a call while the work is under way gets its result.
 * @param make begins the work; all callers that wait get the error that it throws
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
 * Readings that many ask for at a time. Who asks while a reading of the same name is under way shares the next one: it
 * begins after all who share it, so no caller gets a state older than its call.
 */
export class SharedReads<Result> {
  /** Settle when the reading is over, whether it failed or not. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<Result>>();

  /** @throws what `read` throws, for all who share it */
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
