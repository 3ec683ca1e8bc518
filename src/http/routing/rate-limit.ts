/**
 * Limits of requests a second: for each API key (setting `RATE_LIMIT`), and for each address without a key
 * (`OPEN_RATE_LIMIT`), which also holds for the new keys of each tenant.
 */
import type { Configuration } from '../../config/configuration.ts';
import { countedAddressesMax, openBurstSeconds } from '../../contract/limits.ts';

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** Token buckets, one for each name that is in use. */
class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  /** @param burstSeconds a name that was quiet may take the tokens of this time at once */
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
   * Takes tokens, also more than a bucket holds: then from a full one, which owes the rest.
   * @returns 0 when they were there, else the whole seconds after which they are
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
 * A bucket for each key that is in use. It holds the requests of one second, so a key that was quiet may send them at
 * once. Only keys of the configuration get a bucket, so invented keys take no memory. Another configuration begins with
 * no buckets.
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
   * @returns 0 when it may continue, else the whole seconds after which the next one may
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
   * Counts a request from an address.
   * @param address of 4 or 16 bytes
   * @returns 0 when it may continue, else the whole seconds after which it may
   */
  take(address: ArrayBuffer, nowMs: number): number {
    // Beyond this number counting begins again for all addresses. So memory is bounded, and an address gets one more
    // burst.
    if (this.#buckets.size >= countedAddressesMax) this.#buckets.clear();
    return this.#buckets.take(networkOf(Buffer.from(address)), nowMs);
  }
}

/**
 * A bucket for each tenant that configures new API keys: each is a guess at those of others. What a tenant owes delays its
 * own configurations alone.
 */
export class NewKeyLimit {
  readonly #buckets: Buckets;

  /** @param perSecond at least 1 */
  constructor(perSecond: number) {
    this.#buckets = new Buckets(perSecond, openBurstSeconds);
  }

  /** Counts new keys of a tenant. @returns 0 when they may be used, else the whole seconds after which they may */
  take(tenant: string, nowMs: number, count: number): number {
    return this.#buckets.take(tenant, nowMs, count);
  }
}

const mappedPrefix = Buffer.from('00000000000000000000ffff', 'hex');
const networkBytes = 8;

/**
 * An IPv6 client has a whole network of addresses, so the network is counted. An IPv4 address may come as part of an
 * IPv6 one.
 */
function networkOf(address: Buffer): string {
  const isMapped = address.subarray(0, mappedPrefix.length).equals(mappedPrefix);
  if (address.length === 4 || isMapped) return address.subarray(-4).toString('hex');
  return address.subarray(0, networkBytes).toString('hex');
}
