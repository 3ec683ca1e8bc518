/** Admits or rejects requests, by keys, scopes and rate limits. */
import type { HttpResponse } from 'uWebSockets.js';
import type { Principal } from '../../config/configuration.ts';
import { type Problem, ProblemError, problems } from '../../contract/errors.ts';
import { openBurstSeconds } from '../../contract/limits.ts';
import type { Services } from '../services.ts';
import type { HeaderReader } from '../uws/request-headers.ts';
import { type Access, authorize, authorizeMetrics, bearerToken, principalOf } from './access.ts';
import { Buckets, OpenRateLimit, RateLimit } from './rate-limit.ts';

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
