/** The optional limit of requests a second for each API key (setting `RATE_LIMIT`). */
import type { Configuration } from '../config/types.ts';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/**
 * One token bucket for each key that is in use: it holds a second's requests, so a key that was quiet may send them at
 * once. Only keys of the configuration get one, so whoever makes keys up takes no memory; another configuration begins
 * with none.
 */
export class RateLimit {
  readonly #buckets = new Map<string, Bucket>();
  #configuration: Configuration | null = null;

  /** @param perSecond at least 1 */
  constructor(private readonly perSecond: number) {}

  /**
   * Counts one request of a key.
   * @param apiKey one that the configuration knows
   * @returns 0 when it may go on, else the whole seconds after which the next one may
   */
  take(configuration: Configuration, apiKey: string, nowMs: number): number {
    if (configuration !== this.#configuration) {
      this.#configuration = configuration;
      this.#buckets.clear();
    }
    const bucket = this.#bucketOf(apiKey, nowMs);
    const refilled = ((nowMs - bucket.filledAtMs) * this.perSecond) / 1000;
    bucket.tokens = Math.min(this.perSecond, bucket.tokens + refilled);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.perSecond);
    bucket.tokens -= 1;
    return 0;
  }

  #bucketOf(apiKey: string, nowMs: number): Bucket {
    const known = this.#buckets.get(apiKey);
    if (known !== undefined) return known;
    const bucket = { tokens: this.perSecond, filledAtMs: nowMs };
    this.#buckets.set(apiKey, bucket);
    return bucket;
  }
}
