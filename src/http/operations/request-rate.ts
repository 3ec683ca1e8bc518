import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { FrontMetrics } from './front-metrics.ts';

/** Requests per second, by interface. */
interface InterfaceRates {
  readonly ingest: number;
  readonly delivery: number;
  readonly query: number;
}

export type FrontRates = Required<Pick<ProcessBeat, 'requestsPerSecond' | 'rates'>>;

/** Measures the requests of a front, in total and by interface. */
export class RequestRate {
  #counts;
  #atMs: number;

  constructor(
    private readonly metrics: Pick<FrontMetrics, 'requestsOf'>,
    nowMs: number,
  ) {
    this.#counts = this.#count();
    this.#atMs = nowMs;
  }

  /** The rates since the last call. @param nowMs later than at the last call */
  perSecond(nowMs: number): FrontRates {
    const [before, now] = [this.#counts, this.#count()];
    const seconds = (nowMs - this.#atMs) / 1000;
    this.#counts = now;
    this.#atMs = nowMs;
    const rate = (of: keyof typeof now) => (now[of] - before[of]) / seconds;
    return {
      requestsPerSecond: rate('all'),
      rates: { ingest: rate('ingest'), delivery: rate('delivery'), query: rate('query') },
    };
  }

  #count() {
    return {
      all: this.metrics.requestsOf(),
      ingest: this.metrics.requestsOf(['ingest']),
      delivery: this.metrics.requestsOf(['delivery', 'routes']),
      query: this.metrics.requestsOf(['query']),
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
