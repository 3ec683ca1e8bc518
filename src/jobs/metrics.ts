/** What a jobs process counts. Fronts show it under `/metrics`, labelled with the process. */
import { Counter, Gauge, Registry } from 'prom-client';

export class JobsMetrics {
  readonly registry = new Registry();
  readonly rebuildPercent = new Gauge({
    name: 'millrace_rebuild_progress_percent',
    help: 'How far the rebuild for the active configuration is',
    registers: [this.registry],
  });
  readonly jobs = new Gauge({
    name: 'millrace_jobs',
    help: 'Background jobs by queue and state',
    labelNames: ['queue', 'state'],
    registers: [this.registry],
  });
  readonly entitiesInvalidated = new Counter({
    name: 'millrace_rebuild_entities_total',
    help: 'Entities that rebuild jobs found outdated',
    registers: [this.registry],
  });
  readonly clashes = new Gauge({
    name: 'millrace_claim_clashes',
    help: 'URLs and handles that several views claim, by tenant',
    labelNames: ['tenant'],
    registers: [this.registry],
  });
}
