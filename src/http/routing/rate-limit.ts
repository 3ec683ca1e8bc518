/** Limits of requests a second: for each API key (setting `RATE_LIMIT`), and for each address without one (`OPEN_RATE_LIMIT`). */
import type { Configuration } from '../../config/configuration.ts';
import { countedAddressesMax, openBurstSeconds } from '../../contract/limits.ts';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** Token buckets by name, one for each name that is in use. */
class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  /** @param burstSeconds a name that was quiet may take what fills in so long at once */
  constructor(
    private readonly perSecond: number,
    burstSeconds: number,
  ) {
    this.#capacity = perSecond * burstSeconds;
  }

  get size(): number {
    return this.#buckets.size;
  }

  clear(): void {
    this.#buckets.clear();
  }

  /** @returns 0 when there was a token, else the whole seconds after which there is one */
  take(name: string, nowMs: number): number {
    const bucket = this.#bucketOf(name, nowMs);
    const refilled = ((nowMs - bucket.filledAtMs) * this.perSecond) / 1000;
    bucket.tokens = Math.min(this.#capacity, bucket.tokens + refilled);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.perSecond);
    bucket.tokens -= 1;
    return 0;
  }

  #bucketOf(name: string, nowMs: number): Bucket {
    const known = this.#buckets.get(name);
    if (known !== undefined) return known;
    const bucket = { tokens: this.#capacity, filledAtMs: nowMs };
    this.#buckets.set(name, bucket);
    return bucket;
  }
}

/**
 * A bucket for each key that is in use: it holds a second's requests, so a key that was quiet may send them at once. Only
 * keys of the configuration get one, so whoever makes keys up takes no memory; another configuration begins with none.
 */
export class RateLimit {
  readonly #buckets: Buckets;
  #configuration: Configuration | null = null;

  /** @param perSecond at least 1 */
  constructor(perSecond: number) {
    this.#buckets = new Buckets(perSecond, 1);
  }

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
    return this.#buckets.take(apiKey, nowMs);
  }
}

/** A bucket for each address that asks without a known key. */
export class OpenRateLimit {
  readonly #buckets: Buckets;

  /** @param perSecond at least 1 */
  constructor(perSecond: number) {
    this.#buckets = new Buckets(perSecond, openBurstSeconds);
  }

  /**
   * Counts one request from an address.
   * @param address of 4 or 16 bytes
   * @returns 0 when it may go on, else the whole seconds after which the next one may
   */
  take(address: ArrayBuffer, nowMs: number): number {
    // More of them are counted anew, all of them: memory is bounded, and an address gets a burst more.
    if (this.#buckets.size >= countedAddressesMax) this.#buckets.clear();
    return this.#buckets.take(networkOf(Buffer.from(address)), nowMs);
  }
}

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex');
const networkBytes = 8;

/** Of IPv6 a client has a whole network of addresses; an IPv4 address may come as a part of one. */
function networkOf(address: Buffer): string {
  const isMapped = address.subarray(0, mappedPrefix.length).equals(mappedPrefix);
  if (address.length === 4 || isMapped) return address.subarray(-4).toString('hex');
  return address.subarray(0, networkBytes).toString('hex');
}
