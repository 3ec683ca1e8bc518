/** The load of a front, which it sends with each heartbeat. */

import { performance } from 'node:perf_hooks';
import { fieldOfLastSequence } from '../../store/partitions/partition-state.ts';
import { heartbeatMs } from '../../store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import type { Store } from '../../store/store.ts';
import type { FrontMetrics } from './front-metrics.ts';

const probeIntervalMs = 20;

/**
 * Measures how long readers of this front wait, by a small read of Redis every 20 ms while there are requests. Like the reads
 * of a request, it waits for a core of Redis, for scripts ahead of it, and for a core of the front. Response times would be
 * less useful: an expensive response is slow on an idle machine too, and few responses make no average. Rebuilds slow down when
 * it rises (`jobs/backpressure.ts`).
 */
export class ReadWait {
  #sumMs = 0;
  #count = 0;
  #sentMs: number | null = null;
  #turn = 0;
  #timer: NodeJS.Timeout | null = null;

  /** Does nothing until `setActive(true)`. @param read a small read, of another partition each time */
  constructor(private readonly read: (turn: number) => Promise<unknown>) {}

  /** Starts or stops measuring. @param isActive whether there are requests */
  setActive(isActive: boolean): void {
    if (!isActive) this.close();
    else
      this.#timer ??= setInterval(() => {
        // One read at a time, so that reads do not pile up while Redis hangs.
        if (this.#sentMs === null) void this.#measure(this.#turn++);
      }, probeIntervalMs);
  }

  /** Mean duration of the reads since the last call, in ms; null if there were none. A hanging read counts while none ends. */
  take(): number | null {
    const pendingMs = this.#sentMs === null ? 0 : performance.now() - this.#sentMs;
    if (this.#count === 0) return pendingMs > probeIntervalMs ? pendingMs : null;
    const meanMs = this.#sumMs / this.#count;
    this.#sumMs = 0;
    this.#count = 0;
    return meanMs;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #measure(turn: number): Promise<void> {
    const sentMs = performance.now();
    this.#sentMs = sentMs;
    try {
      await this.read(turn);
      this.#sumMs += performance.now() - sentMs;
      this.#count += 1;
    } catch {
      // While Redis is unreachable there are no readers to slow down.
    }
    this.#sentMs = null;
  }
}

export type FrontStats = FrontRates & Required<Pick<ProcessBeat, 'readWaitMs'>>;

/** Measures once per heartbeat. */
export class FrontLoad {
  readonly #requests: RequestRate;
  readonly #readWait: ReadWait;
  readonly #timer: NodeJS.Timeout;
  #stats: FrontStats = {
    requestsPerSecond: 0,
    readWaitMs: null,
    rates: { ingest: 0, delivery: 0, query: 0 },
  };

  constructor({ fields, partitions }: Pick<Store, 'fields' | 'partitions'>, metrics: FrontMetrics) {
    this.#requests = new RequestRate(metrics, performance.now());
    this.#readWait = new ReadWait((turn) =>
      fields.read([fieldOfLastSequence(partitions.tag(turn % partitions.count))]),
    );
    this.#timer = setInterval(() => this.#measure(), heartbeatMs);
  }

  /** The latest measurements. */
  get stats(): FrontStats {
    return this.#stats;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#readWait.close();
  }

  #measure(): void {
    const rates = this.#requests.perSecond(performance.now());
    this.#stats = { ...rates, readWaitMs: this.#readWait.take() };
    this.#readWait.setActive(rates.requestsPerSecond >= 1);
  }
}

/** Requests per second, by interface. */
interface InterfaceRates {
  readonly ingest: number;
  readonly delivery: number;
  readonly query: number;
}

type FrontRates = Required<Pick<ProcessBeat, 'requestsPerSecond' | 'rates'>>;

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
