/** What `GET /metrics` shows (issue: operations). Labels come from the route table, so their number is bounded. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { mergeMetrics, type ProcessMetrics } from './metrics-merge.ts';
import type { RouteDefinition } from './route-definition.ts';

/** Metrics of other processes: what workers and other fronts publish with their heartbeats. */
export type MetricsCollector = () => Promise<readonly ProcessMetrics[]>;

export interface RouteMetrics {
  /** Counts one finished request. */
  observe(status: number, durationMs: number): void;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #collectors: MetricsCollector[] = [];
  readonly #requests = new Counter({
    name: 'millrace_http_requests_total',
    help: 'Finished requests by interface, endpoint and status',
    labelNames: ['interface', 'endpoint', 'status'],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: 'millrace_http_request_duration_seconds',
    help: 'Time from a request head to the last byte of its answer',
    labelNames: ['interface', 'endpoint'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.#registry],
  });

  readonly #process: string;

  /** @param process what the samples of this process are labelled with */
  constructor(process: string) {
    this.#process = process;
    collectDefaultMetrics({ register: this.#registry, prefix: 'millrace_' });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** A value that is read when somebody asks for the metrics. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** As `gauge`, one value per partition. */
  partitionGauge(name: string, help: string, read: () => readonly number[]): void {
    new Gauge({
      name,
      help,
      labelNames: ['partition'],
      registers: [this.#registry],
      collect() {
        for (const [partition, value] of read().entries()) this.set({ partition }, value);
      },
    });
  }

  counter(name: string, help: string): { inc(by?: number): void } {
    return new Counter({ name, help, registers: [this.#registry] });
  }

  addCollector(collector: MetricsCollector): void {
    this.#collectors.push(collector);
  }

  forRoute({ tag, name }: Pick<RouteDefinition, 'tag' | 'name'>): RouteMetrics {
    const duration = this.#durations.labels(tag, name);
    const counters = new Map<number, { inc(): void }>();
    return {
      observe: (status, durationMs) => {
        let counter = counters.get(status);
        if (counter === undefined) {
          counter = this.#requests.labels(tag, name, String(status));
          counters.set(status, counter);
        }
        counter.inc();
        duration.observe(durationMs / 1000);
      },
    };
  }

  /** What this process measures, in Prometheus' text form. */
  ownText(): Promise<string> {
    return this.#registry.metrics();
  }

  /** What all processes measure. */
  async text(): Promise<string> {
    const others = await Promise.all(this.#collectors.map((collect) => collect()));
    const own = { process: this.#process, text: await this.ownText() };
    return mergeMetrics([own, ...others.flat()]);
  }
}
