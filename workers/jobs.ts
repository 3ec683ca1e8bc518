/** The jobs process: `npm run jobs`. Background work that people want to see: rebuilds after a change of configuration. */
import { JobsProcess } from '../src/jobs/jobs-process.ts';
import { openProcess, runProcess, stopOnSignal } from '../src/process/open.ts';
import { collectProcessFigures } from '../src/process/process-figures.ts';

runProcess('jobs', async () => {
  const ground = await openProcess('jobs');
  const { store, configuration, log } = ground;
  const jobs = new JobsProcess({
    store,
    configuration,
    onTrouble: (message, error) =>
      log.error({ reason: error instanceof Error ? error.message : String(error) }, message),
  });
  collectProcessFigures(jobs.metrics.registry);
  jobs.start();
  log.info({ id: jobs.id }, 'ready');
  stopOnSignal(ground, async () => {
    await jobs.stop();
    configuration.close();
    await store.close();
  });
});
