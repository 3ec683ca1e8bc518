/** The metrics of `GET /metrics`. Labels come from the route table, so their number is bounded. */
import { ProcessMetrics } from '../../lib/process-metrics.ts';
import type { MetricsText } from '../../store/processes/process-messages.ts';
import { RouteTimes, requestText } from '../request-record.ts';
import type { RouteDefinition } from '../route-definition.ts';

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

interface Family {
  readonly comments: string[];
  readonly samples: string[];
}

const commentPattern = /^# (?:HELP|TYPE) (\S+)/;
const samplePattern = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (.+)$/;
/** Suffixes that samples of histograms and summaries add to the name of their metric. */
const sampleEnding = /_(?:bucket|sum|count)$/;

/**
 * Merges the metrics of several processes into one Prometheus text, grouped by metric; '' if they have none. Each sample gets
 * the labels `process` and `role`, which no metric has itself.
 */
export function mergeMetrics(parts: readonly MetricsText[]): string {
  const families = new Map<string, Family>();
  for (const part of parts) addText(families, part);
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function addText(families: Map<string, Family>, { process, role, text }: MetricsText): void {
  const own = `process=${JSON.stringify(process)},role=${JSON.stringify(role)}`;
  for (const line of text.split('\n')) {
    const commented = commentPattern.exec(line)?.[1];
    if (commented !== undefined) {
      const { comments } = familyOf(families, commented);
      if (comments.length < 2 && !comments.includes(line)) comments.push(line);
      continue;
    }
    const [, name, labels, value] = samplePattern.exec(line) ?? [];
    // The library writes an empty mean as `Nan`, which is invalid in the format.
    if (name === undefined || value === undefined || value === 'Nan') continue;
    const base = name.replace(sampleEnding, '');
    const family = familyOf(families, families.has(base) ? base : name);
    const all = labels === undefined || labels === '' ? '' : `,${labels}`;
    family.samples.push(`${name}{${own}${all}} ${value}`);
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const known = families.get(name);
  if (known !== undefined) return known;
  const family = { comments: [], samples: [] };
  families.set(name, family);
  return family;
}
