import { performance } from 'node:perf_hooks';

/** What a look gives, for all who ask within a time. A look that failed is not an answer for who asks next. */
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
