import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { RouteDefinition } from '../route-definition.ts';
import type { FrontMetrics } from './front-metrics.ts';

/** Requests per second of one counter. */
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

/** Requests per second, by interface. */
interface InterfaceRates {
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

export const recentRatesEveryMs = 5_000;
/** Samples of five minutes. */
const samplesMax = 60;
const interfaces = ['ingest', 'delivery', 'query'] as const;

/** Request rates of all fronts in the last minutes, from their heartbeats, for the console's charts. */
export class RecentRates {
  readonly #samples: InterfaceRates[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Records the rates of all processes regularly. */
  follow(store: Store): void {
    this.#timer = setInterval(() => {
      // While Redis is unreachable there are no heartbeats. `OutageWatch` reports that.
      liveProcesses(store).then(
        (processes) => this.add(processes),
        () => {},
      );
    }, recentRatesEveryMs);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Records the current rates of the processes. */
  add(processes: readonly Pick<ProcessBeat, 'rates'>[]): void {
    const [ingest, delivery, query] = interfaces.map((name) =>
      processes.reduce((sum, { rates }) => sum + (rates?.[name] ?? 0), 0),
    );
    this.#samples.push({ ingest: ingest ?? 0, delivery: delivery ?? 0, query: query ?? 0 });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }

  /** The samples, the oldest first. */
  get samples(): readonly InterfaceRates[] {
    return this.#samples;
  }
}
