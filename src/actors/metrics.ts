/** What a worker counts. Fronts show it under `/metrics`, labelled with the process. */
import { Counter, Gauge, Registry } from 'prom-client';

export class WorkerMetrics {
  readonly registry = new Registry();
  readonly entitiesProcessed = this.#counter(
    'millrace_entities_processed_total',
    'Entities processed after a change',
  );
  readonly outputsBuilt = this.#counter('millrace_built_total', 'Views and index items computed');
  readonly outputsUnchanged = this.#counter(
    'millrace_built_unchanged_total',
    'Views and index items whose computation changed nothing',
  );
  readonly rebuilds = this.#counter(
    'millrace_rebuilds_total',
    'Views and index items rebuilt for a dependency',
  );
  readonly rebuildsUnchanged = this.#counter(
    'millrace_rebuilds_unchanged_total',
    'Rebuilds that changed nothing',
  );
  readonly diagnostics = new Counter({
    name: 'millrace_diagnostics_total',
    help: 'Findings about data while processing, by kind',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  readonly commits = this.#counter('millrace_commits_total', 'Commits of partitions');
  readonly fenced = this.#counter(
    'millrace_fenced_total',
    'Commits and effects refused because the lease was lost',
  );
  readonly streamLag = new Gauge({
    name: 'millrace_stream_lag_entries',
    help: 'Stream entries not yet processed, by partition',
    labelNames: ['partition'],
    registers: [this.registry],
  });
  readonly rebuildsWaiting = new Gauge({
    name: 'millrace_rebuilds_waiting',
    help: 'Views and index items that wait for a rebuild, by partition',
    labelNames: ['partition'],
    registers: [this.registry],
  });

  /** A count that somebody else keeps, read when the metrics are. */
  countOf(name: string, help: string, read: () => number): void {
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

  #counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers: [this.registry] });
  }
}
