/** What a jobs process counts. Fronts show it under `/metrics`, labelled with the process. */
import { ProcessMetrics } from '../lib/process-metrics.ts';

export class JobsMetrics extends ProcessMetrics {
  readonly rebuildPercent = this.gauge(
    'millrace_rebuild_progress_percent',
    'Progress of the rebuild for the active configuration',
  );
  readonly jobs = this.gaugeBy(['queue', 'state'], 'millrace_jobs', 'Background jobs by queue and state');
  readonly entitiesInvalidated = this.counter(
    'millrace_rebuild_entities_total',
    'Entities that rebuild jobs found outdated',
  );
  readonly webhookRequests = this.counterBy(
    ['tenant', 'webhook', 'outcome'],
    'millrace_webhook_requests_total',
    'Requests to webhooks by outcome: sent, failed, refused, gone',
  );
  readonly webhookBehind = this.gaugeBy(
    ['tenant', 'webhook'],
    'millrace_webhook_behind_entries',
    'Entries of the change log that a webhook has not processed',
  );
  readonly webhookFailing = this.gaugeBy(
    ['tenant', 'webhook'],
    'millrace_webhook_failing',
    'Whether the last request to a webhook failed, or the webhook is disabled',
  );
  readonly clashes = this.gaugeBy(
    ['tenant'],
    'millrace_claim_clashes',
    'URLs and handles claimed by several views, by tenant',
  );
}
