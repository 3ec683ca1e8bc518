/** Polls for faults. Logs each fault once when it begins and once when it ends, and shows it in metrics. */
import type { ProcessMetrics } from '../../lib/process-metrics.ts';
import type { Log } from '../log.ts';
import { type FaultKind, type FrontReadiness, faultKinds, type Readiness } from './readiness.ts';

const pollMs = 2_000;

interface FaultLines {
  readonly begins: string;
  readonly ends: string;
}

/** Null for faults that every restart of a worker causes. The runbook quotes these lines (docs/guide/runbook.md). */
const linesOf: Readonly<Record<FaultKind, FaultLines | null>> = {
  partitions: { begins: 'partitions have no owner', ends: 'every partition has an owner again' },
  indexes: null,
  workers: { begins: 'queries cannot reach a worker', ends: 'queries reach every worker again' },
  store_full: { begins: 'Redis is full: saves are rejected', ends: 'Redis has free memory again' },
  disk_full: {
    begins: 'Redis cannot write its file: saves are rejected',
    ends: 'Redis can write its file again',
  },
  replicas: {
    begins: 'a replica is missing or behind: saves are rejected',
    ends: 'all replicas are connected again',
  },
  jobs: { begins: 'no jobs process is running', ends: 'a jobs process is running again' },
  versions: {
    begins: 'processes of several versions run',
    ends: 'all processes run the same version again',
  },
  redis: { begins: 'Redis responds only in part', ends: 'Redis responds completely again' },
};

export class FaultWatch {
  /** Faults of the last poll, and when each began. */
  readonly #faults = new Map<FaultKind, { readonly sinceMs: number; isLogged: boolean }>();
  #last: Readiness | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isPolling = false;

  constructor(
    private readonly readiness: Pick<FrontReadiness, 'check'>,
    private readonly log: Pick<Log, 'info' | 'warn'>,
  ) {}

  start(): void {
    this.#timer = setInterval(() => void this.poll(), pollMs);
    void this.poll();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Adds the gauges. Unknown values are NaN, which `front-metrics.ts` drops. */
  showIn(metrics: ProcessMetrics): void {
    metrics.gaugeOf('millrace_ready', 'Whether /health/ready of this front returns 200', () =>
      this.#last?.waitingFor.length === 0 ? 1 : 0,
    );
    metrics.gaugeOfEach(
      'what',
      'millrace_degraded',
      'Problems that do not make the front unready: 1 if present',
      () => faultKinds.map((kind) => [kind, this.#last?.faults.some((fault) => fault.kind === kind) ? 1 : 0]),
    );
    metrics.gaugeOf(
      'millrace_partitions_without_owner',
      'Partitions without an owner',
      () => this.#last?.partitionsWithoutOwner ?? Number.NaN,
    );
    metrics.gaugeOf(
      'millrace_redis_memory_bytes',
      'Memory used by Redis, sum of all masters',
      () => this.#last?.server?.usedBytes ?? Number.NaN,
    );
    metrics.gaugeOf(
      'millrace_redis_memory_max_bytes',
      'Memory limit of Redis (maxmemory), sum of all masters; 0: no limit',
      () => (this.#last?.server ? (this.#last.server.maxBytes ?? 0) : Number.NaN),
    );
    metrics.gaugeOf(
      'millrace_redis_replicas',
      'Replicas of Redis that follow; in a cluster, of the master with the fewest',
      () => this.#last?.server?.replicas ?? Number.NaN,
    );
  }

  /** Polls once, unless a poll is running. */
  async poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    this.#last = await this.readiness.check();
    this.#isPolling = false;
    // While Redis is unreachable, `OutageWatch` reports that, and no fault counts as ended.
    if (this.#last.isRedisReachable && this.#timer !== null) this.#note(this.#last);
  }

  /** A fault begins with the second poll that finds it, so that a quick restart does not count. */
  #note({ faults, unknown }: Pick<Readiness, 'faults' | 'unknown'>): void {
    for (const kind of faultKinds) {
      const lines = linesOf[kind];
      if (lines === null || unknown.includes(kind)) continue;
      const known = this.#faults.get(kind);
      const reasons = faults.filter((fault) => fault.kind === kind).map(({ reason }) => reason);
      if (reasons.length === 0) {
        this.#faults.delete(kind);
        if (known?.isLogged)
          this.log.info({ afterMs: Math.round(performance.now() - known.sinceMs) }, lines.ends);
      } else if (known === undefined) {
        this.#faults.set(kind, { sinceMs: performance.now(), isLogged: false });
      } else if (!known.isLogged) {
        known.isLogged = true;
        this.log.warn({ reason: reasons.join('; ') }, lines.begins);
      }
    }
  }
}
