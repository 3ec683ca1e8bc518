/** Entry point of a partition worker: `npm run worker`, and `worker` in the Procfile. */
import { ThreadedKeeper } from '../src/actors/ownership/threaded-keeper.ts';
import { Worker } from '../src/actors/worker.ts';
import { openProcess, runProcess, stopOnSignal } from '../src/process/context.ts';
import { collectProcessFigures } from '../src/process/process-figures.ts';
import { Responder } from '../src/query/worker/responder.ts';
import { ShardSet } from '../src/query/worker/shard-set.ts';
import { AutoFields } from '../src/store/entities/auto-fields.ts';

runProcess('worker', async () => {
  const context = await openProcess('worker');
  const { settings, store, configuration, log } = context;
  const onTrouble = (message: string, error: unknown) =>
    log.error({ reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }, message);

  const autoFields = new AutoFields(store);
  configuration.onChange((current, former) => autoFields.forgetChanged(current, former));
  const shards = new ShardSet(store, autoFields, configuration.current);
  const worker = new Worker({
    store,
    configuration,
    autoFields,
    items: shards,
    leaseMs: settings.leaseMs,
    changesRetentionMs: settings.changesRetentionMs,
    waitingFor: () =>
      shards.loading.map(
        ({ partition, done, total }) => `index items of partition ${partition}: ${done} of ${total}`,
      ),
    socketPath: () => responder.socketPath,
    openKeeper: (host, terms, events) => new ThreadedKeeper(host, terms, events),
    onLeases: (event, partitions) =>
      log[event === 'lost' ? 'warn' : 'info']({ partitions }, `partitions were ${event}`),
    onTrouble,
  });
  collectProcessFigures(worker.metrics.registry);
  const responder: Responder = new Responder({
    store,
    workerId: worker.id,
    shards,
    covered: () => worker.covered(),
    queryCpuMs: settings.queryCpuMs,
    onTrouble: (error) => onTrouble('a query broke', error),
  });
  worker.metrics.countOf(
    'millrace_queries_refused_total',
    'Queries that took more than their processor time',
    () => responder.figures.refused,
  );
  worker.metrics.countOf(
    'millrace_query_pauses_total',
    'Times that a query paused for others',
    () => responder.figures.pauses,
  );
  worker.metrics.countOf(
    'millrace_queries_dropped_total',
    'Requests of fronts that nobody waited for any more',
    () => responder.figures.dropped,
  );

  configuration.onChange((current) => {
    shards.reconfigure(current).catch((error: unknown) => onTrouble('an index was not rebuilt', error));
  });

  await responder.start();
  worker.start();
  log.info({ id: worker.id }, 'worker is running');

  stopOnSignal(context, async () => {
    await worker.stop();
    await responder.close();
    configuration.close();
    await store.close();
  });
});
