/**
 * Rate limits: for each API key (setting `RATE_LIMIT`), and for each address without a key (`OPEN_RATE_LIMIT`), which also
 * limits the new keys of each tenant.
 */
import type { Configuration } from '../../config/configuration.ts';
import { countedAddressesMax, openBurstSeconds } from '../../contract/limits.ts';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** Token buckets by name. */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  /** @param burstSeconds capacity of a bucket, in seconds of its refill rate */
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

  /**
   * Takes tokens. More than the capacity can be taken from a full bucket, which is negative afterwards.
   * @returns 0 if they were taken, otherwise the seconds until they are available, rounded up
   */
  take(name: string, nowMs: number, count = 1): number {
    const needed = Math.min(count, this.#capacity);
    const bucket = this.#bucketOf(name, nowMs);
    const refilled = ((nowMs - bucket.filledAtMs) * this.perSecond) / 1000;
    bucket.tokens = Math.min(this.#capacity, bucket.tokens + refilled);
    bucket.filledAtMs = nowMs;
    if (bucket.tokens < needed) return Math.ceil((needed - bucket.tokens) / this.perSecond);
    bucket.tokens -= count;
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
 * A bucket for each key. It holds the requests of one second as a burst. Only configured keys get a bucket, so invented keys
 * take no memory. A new configuration clears the buckets.
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
   * @param apiKey a configured key
   * @returns 0 if it is allowed, otherwise the seconds to wait, rounded up
   */
  take(configuration: Configuration, apiKey: string, nowMs: number): number {
    if (configuration !== this.#configuration) {
      this.#configuration = configuration;
      this.#buckets.clear();
    }
    return this.#buckets.take(apiKey, nowMs);
  }
}

/** A bucket for each address that sends requests without a known key. */
export class OpenRateLimit {
  readonly #buckets: Buckets;

  /** @param perSecond at least 1 */
  constructor(perSecond: number) {
    this.#buckets = new Buckets(perSecond, openBurstSeconds);
  }

  /**
   * Counts a request from an address.
   * @param address of 4 or 16 bytes
   * @returns 0 if it is allowed, otherwise the seconds to wait, rounded up
   */
  take(address: ArrayBuffer, nowMs: number): number {
    // Bounds memory by starting again for all addresses, which only gives each one more burst.
    if (this.#buckets.size >= countedAddressesMax) this.#buckets.clear();
    return this.#buckets.take(networkOf(Buffer.from(address)), nowMs);
  }
}

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex');
const networkBytes = 8;

/**
 * The key of an address. An IPv6 client has a whole network of addresses, so its /64 network is counted. IPv4 addresses may be
 * mapped to IPv6.
 */
function networkOf(address: Buffer): string {
  const isMapped = address.subarray(0, mappedPrefix.length).equals(mappedPrefix);
  if (address.length === 4 || isMapped) return address.subarray(-4).toString('hex');
  return address.subarray(0, networkBytes).toString('hex');
}
