/** Admits or rejects requests, by keys, scopes and rate limits. */
import type { HttpResponse } from 'uWebSockets.js';
import type { Configuration, Principal } from '../../config/configuration.ts';
import { type Problem, ProblemError, problems } from '../../contract/errors.ts';
import { countedAddressesMax, openBurstSeconds } from '../../contract/limits.ts';
import type { Services } from '../services.ts';
import type { HeaderReader } from '../uws/request-headers.ts';
import { type Access, authorize, authorizeMetrics, bearerToken, principalOf } from './access.ts';

export interface RateLimits {
  /** Requests per second for each API key; absent or 0 for no limit. */
  readonly rateLimit?: number;
  /** Requests per second without a known key for each address; absent or 0 for no limit. */
  readonly openRateLimit?: number;
}

export class Admission {
  readonly #ofKeys: RateLimit | null;
  readonly #ofAddresses: OpenRateLimit | null;
  /**
   * A bucket for each tenant that configures new API keys, because each can be a guess at another tenant's key. A tenant over
   * the limit only delays its own configuration changes.
   */
  readonly #ofNewKeys: Buckets | null;

  constructor(
    private readonly services: Pick<Services, 'configuration' | 'metricsKeyHash'>,
    { rateLimit = 0, openRateLimit = 0 }: RateLimits,
  ) {
    this.#ofKeys = rateLimit === 0 ? null : new RateLimit(rateLimit);
    this.#ofAddresses = openRateLimit === 0 ? null : new OpenRateLimit(openRateLimit);
    this.#ofNewKeys = openRateLimit === 0 ? null : new Buckets(openRateLimit, openBurstSeconds);
  }

  /** The principal of a request; null at an endpoint that needs no principal. @throws ProblemError 401, 403, 429, 503 */
  admit(access: Access, res: HttpResponse, headers: HeaderReader): Principal | null {
    const { metricsKeyHash, configuration } = this.services;
    if (access.kind === 'open' || (access.kind === 'metrics' && metricsKeyHash === null)) {
      const problem = this.countKeyless(res);
      if (problem !== null) throw new ProblemError(problem);
      return null;
    }
    if (access.kind !== 'metrics' && !configuration.loaded) {
      throw new ProblemError(this.countKeyless(res) ?? problems.unavailable);
    }
    const apiKey = keyOf(access.kind, headers);
    try {
      if (access.kind === 'metrics') {
        authorizeMetrics(metricsKeyHash, headers.of('authorization'), apiKey);
        return null;
      }
      const principal = authorize(access, apiKey, configuration.current);
      const tooBusy = this.#countKey(apiKey);
      if (tooBusy !== null) throw new ProblemError(tooBusy);
      return principal;
    } catch (error) {
      const status = error instanceof ProblemError ? error.problem.status : 0;
      const tooBusy =
        status === 401 ? this.countKeyless(res) : status === 403 ? this.#countKey(apiKey) : null;
      throw tooBusy === null ? error : new ProblemError(tooBusy);
    }
  }

  /** The principal of a request's key, whatever the endpoint and its scopes; null without a known key. */
  principalOf(kind: Access['kind'], headers: HeaderReader): Principal | null {
    const { configuration } = this.services;
    return configuration.loaded ? principalOf(keyOf(kind, headers), configuration.current) : null;
  }

  /** Counts a request with a known key. @returns the problem if it must be refused; otherwise null */
  #countKey(apiKey: string): Problem | null {
    const { current } = this.services.configuration;
    const waitSeconds = this.#ofKeys?.take(current, apiKey, performance.now()) ?? 0;
    return waitSeconds > 0 ? problems.keyTooBusy(waitSeconds) : null;
  }

  /** Counts keys of a configuration that are new to its tenant. @returns as `countKeyless` */
  countNewKeys(tenant: string, count: number): Problem | null {
    if (this.#ofNewKeys === null || count === 0) return null;
    const waitSeconds = this.#ofNewKeys.take(tenant, performance.now(), count);
    return waitSeconds > 0 ? problems.newKeysTooMany(waitSeconds) : null;
  }

  /** Counts a request without a known key. @returns the problem if it must be refused; otherwise null */
  countKeyless(res: HttpResponse): Problem | null {
    if (this.#ofAddresses === null) return null;
    const waitSeconds = this.#ofAddresses.take(res.getRemoteAddress(), performance.now());
    return waitSeconds > 0 ? problems.addressTooBusy(waitSeconds) : null;
  }
}

/** The key of a request. MCP clients can often send only the header `Authorization`. */
function keyOf(kind: Access['kind'], headers: HeaderReader): string {
  const apiKey = headers.of('x-api-key');
  if (kind !== 'reader' || apiKey !== '') return apiKey;
  return bearerToken(headers.of('authorization')) ?? '';
}

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
 * Limits the requests of each API key (setting `RATE_LIMIT`) by a bucket for each. It holds the requests of one second as a
 * burst. Only configured keys get a bucket, so invented keys take no memory. A new configuration clears the buckets.
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

/** Limits requests without a known key (`OPEN_RATE_LIMIT`) by a bucket for each address that sends them. */
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
