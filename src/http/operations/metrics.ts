/** What `GET /metrics` shows (issue: operations). Labels come from the route table, so their number is bounded. */
import { Counter, Gauge, Registry } from 'prom-client';
import type { RouteDefinition } from '../routing/route-definition.ts';
import { mergeMetrics, type ProcessMetrics } from './metrics-merge.ts';
import { RouteTimes, requestText } from './request-times.ts';

/** Metrics of other processes, which are asked for them. */
export type MetricsCollector = () => Promise<readonly ProcessMetrics[]>;

export type RouteMetrics = Pick<RouteTimes, 'timesNext' | 'observe' | 'observeAtOnce'>;

export class Metrics {
  readonly registry = new Registry();
  readonly #collectors: MetricsCollector[] = [];
  readonly #routes: RouteTimes[] = [];
  readonly #process: string;

  /** @param process what the samples of this process are labelled with */
  constructor(process: string) {
    this.#process = process;
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Requests that this process has answered. */
  get requests(): number {
    return this.#routes.reduce((sum, { count }) => sum + count, 0);
  }

  /** A value that is read when somebody asks for the metrics. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** As `gauge`, of what only ever grows. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** As `gauge`, one value per partition. */
  partitionGauge(name: string, help: string, read: () => readonly number[]): void {
    new Gauge({
      name,
      help,
      labelNames: ['partition'],
      registers: [this.registry],
      collect() {
        for (const [partition, value] of read().entries()) this.set({ partition }, value);
      },
    });
  }

  counter(name: string, help: string): { inc(by?: number): void } {
    return new Counter({ name, help, registers: [this.registry] });
  }

  addCollector(collector: MetricsCollector): void {
    this.#collectors.push(collector);
  }

  forRoute({ tag, name }: Pick<RouteDefinition, 'tag' | 'name'>): RouteMetrics {
    const times = new RouteTimes(`interface="${tag}",endpoint="${name}"`);
    this.#routes.push(times);
    return times;
  }

  /** What this process measures, in Prometheus' text form. */
  async ownText(): Promise<string> {
    return `${requestText(this.#routes)}${await this.registry.metrics()}`;
  }

  /** What all processes measure. */
  async text(): Promise<string> {
    const others = await Promise.all(this.#collectors.map((collect) => collect()));
    const own = { process: this.#process, role: 'web', text: await this.ownText() };
    return mergeMetrics([own, ...others.flat()]);
  }
}
