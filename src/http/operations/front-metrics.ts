/** The metrics of `GET /metrics`. Labels come from the route table, so their number is bounded. */
import { ProcessMetrics } from '../../lib/process-metrics.ts';
import type { MetricsText } from '../../store/processes/process-messages.ts';
import { RouteTimes, requestText } from '../request-record.ts';
import type { RouteDefinition } from '../route-definition.ts';
import { mergeMetrics } from './metrics-merge.ts';

/** Collects the metrics of other processes. */
export type MetricsCollector = () => Promise<readonly MetricsText[]>;

export class FrontMetrics extends ProcessMetrics {
  readonly #collectors: MetricsCollector[] = [];
  readonly #routes: { readonly tag: RouteDefinition['tag']; readonly times: RouteTimes }[] = [];

  /** @param process label on the samples of this process */
  constructor(private readonly process: string) {
    super();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Number of completed requests. @param tags only of these interfaces */
  requestsOf(tags?: readonly RouteDefinition['tag'][]): number {
    return this.#routes
      .filter(({ tag }) => tags?.includes(tag) ?? true)
      .reduce((sum, { times }) => sum + times.count, 0);
  }

  addCollector(collector: MetricsCollector): void {
    this.#collectors.push(collector);
  }

  forRoute({ tag, name }: Pick<RouteDefinition, 'tag' | 'name'>): RouteTimes {
    const times = new RouteTimes(`interface="${tag}",endpoint="${name}"`);
    this.#routes.push({ tag, times });
    return times;
  }

  /** The metrics of this process, as Prometheus text. */
  override async text(): Promise<string> {
    return `${requestText(this.#routes.map(({ times }) => times))}${await super.text()}`;
  }

  /** The metrics of all processes, as one Prometheus text. Processes that do not respond are left out. */
  async textOfAll(): Promise<string> {
    const others = await Promise.all(this.#collectors.map((collect) => collect().catch(() => [])));
    const own: MetricsText = { process: this.process, role: 'web', text: await this.text() };
    return mergeMetrics([own, ...others.flat()]);
  }
}
