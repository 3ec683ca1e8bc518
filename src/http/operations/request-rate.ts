/** Measures how many requests a second a front answers. */
import type { RouteDefinition } from '../routing/route-definition.ts';
import type { FrontMetrics } from './front-metrics.ts';

/** Requests a second of one count. */
export class RequestRate {
  #requests: number;
  #atMs: number;

  constructor(
    private readonly counter: { readonly requests: number },
    nowMs: number,
  ) {
    this.#requests = counter.requests;
    this.#atMs = nowMs;
  }

  /** The rate since the last call. @param nowMs later than at the last call */
  perSecond(nowMs: number): number {
    const { requests } = this.counter;
    const rate = (1000 * (requests - this.#requests)) / (nowMs - this.#atMs);
    this.#requests = requests;
    this.#atMs = nowMs;
    return rate;
  }
}

/** Rates of what operators tell apart. */
export interface InterfaceRates {
  readonly ingest: number;
  readonly delivery: number;
  readonly query: number;
}

/** Measures the requests of each interface. */
export class InterfaceRate {
  readonly #ingest: RequestRate;
  readonly #delivery: RequestRate;
  readonly #query: RequestRate;

  constructor(metrics: FrontMetrics, nowMs: number) {
    const rateOf = (...tags: readonly RouteDefinition['tag'][]) =>
      new RequestRate(
        {
          get requests() {
            return metrics.requestsOf(tags);
          },
        },
        nowMs,
      );
    this.#ingest = rateOf('ingest');
    this.#delivery = rateOf('delivery', 'routes');
    this.#query = rateOf('query');
  }

  /** The rates since the last call. @param nowMs later than at the last call */
  perSecond(nowMs: number): InterfaceRates {
    return {
      ingest: this.#ingest.perSecond(nowMs),
      delivery: this.#delivery.perSecond(nowMs),
      query: this.#query.perSecond(nowMs),
    };
  }
}
