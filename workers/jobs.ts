/**
 * Entry point of the jobs process: `npm run jobs`, and `jobs` in the Procfile. It runs rebuilds after a change of
 * configuration, purges, and sends webhooks.
 */
import { JobsProcess } from '../src/jobs/jobs-process.ts';
import { serveMetrics } from '../src/process/metrics-server.ts';
import { openProcess, runProcess, stopOnSignal } from '../src/process/process-context.ts';
import { collectProcessFigures } from '../src/process/process-figures.ts';
import { AddressGuard } from '../src/webhooks/allowed-addresses.ts';

runProcess('jobs', async () => {
  const context = await openProcess('jobs');
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
    onTrouble: (message, error) => log.error({ err: error }, message),
  });
  collectProcessFigures(jobs.metrics.registry);
  await serveMetrics(settings, { id: jobs.id, role: 'jobs', text: () => jobs.metrics.text() });
  jobs.start();
  log.info({ id: jobs.id }, 'ready');
  stopOnSignal(context, async () => {
    await jobs.stop();
    configuration.close();
    await store.close();
  });
});
