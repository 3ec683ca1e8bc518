/** The jobs role: runs rebuilds, purges and dry runs, and sends webhooks. */
import { JobsProcess } from '../jobs/jobs-process.ts';
import { AddressGuard } from '../webhooks/allowed-addresses.ts';
import { openRole, type RunningRole } from './process-context.ts';

export async function startJobs(): Promise<RunningRole> {
  const context = await openRole('jobs');
  const { settings, store, configuration, log } = context;
  const jobs = new JobsProcess({
    store,
    configuration,
    webhooks: {
      guard: new AddressGuard(settings.webhookAllow),
      publicUrl: settings.publicUrl,
      retentionMs: settings.changesRetentionMs,
      onFailing: (tenant, webhook, failure) =>
        log.warn({ tenant, webhook, ...failure }, 'a webhook is failing'),
      onWorking: (tenant, webhook) => log.info({ tenant, webhook }, 'a webhook works again'),
    },
    onError: (message, error) => log.error({ err: error }, message),
  });
  jobs.start();
  log.info({ id: jobs.id }, 'ready');
  const stop = async () => {
    await jobs.stop();
    configuration.close();
    await store.close();
  };
  return { context, id: jobs.id, role: 'jobs', metrics: jobs.metrics, stop };
}
