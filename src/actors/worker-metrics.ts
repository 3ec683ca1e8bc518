/** Metrics of a worker. Fronts include them in `/metrics`, labelled with the process. */
import { ProcessMetrics } from '../lib/process-metrics.ts';

export class WorkerMetrics extends ProcessMetrics {
  readonly entitiesProcessed = this.counter(
    'millrace_entities_processed_total',
    'Entities processed after a change',
  );
  readonly outputsBuilt = this.counter('millrace_built_total', 'Views and index items computed');
  readonly outputsUnchanged = this.counter(
    'millrace_built_unchanged_total',
    'Views and index items whose computation changed nothing',
  );
  readonly rebuilds = this.counter(
    'millrace_rebuilds_total',
    'Views and index items rebuilt for a dependency',
  );
  readonly rebuildsUnchanged = this.counter(
    'millrace_rebuilds_unchanged_total',
    'Rebuilds that changed nothing',
  );
  readonly diagnostics = this.counterBy(
    ['kind'],
    'millrace_diagnostics_total',
    'Diagnostics found while processing, by kind',
  );
  readonly commits = this.counter('millrace_commits_total', 'Commits of partitions');
  readonly fenced = this.counter(
    'millrace_fenced_total',
    'Commits and effects rejected because the lease was lost',
  );
  readonly streamLag = this.gaugeBy(
    ['partition'],
    'millrace_stream_lag_entries',
    'Stream entries not yet processed, by partition',
  );
  readonly rebuildsWaiting = this.gaugeBy(
    ['partition'],
    'millrace_rebuilds_waiting',
    'Views and index items waiting for a rebuild, by partition',
  );
  readonly scheduledEntities = this.gaugeBy(
    ['partition'],
    'millrace_scheduled_entities',
    'Entities waiting to be published or unpublished, by partition',
  );
}
