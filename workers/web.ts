/** Entry point of an HTTP front: `npm run web`, and `web` in the Procfile. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { redisCommandTimeoutMs } from '../src/contract/limits.ts';
import { EntityReader } from '../src/http/entity-reader.ts';
import { handlersFor } from '../src/http/handlers.ts';
import { Metrics } from '../src/http/metrics.ts';
import { waitingFor } from '../src/http/readiness.ts';
import { HttpServer } from '../src/http/server.ts';
import type { Services } from '../src/http/services.ts';
import { openProcess, runProcess, stopOnSignal } from '../src/process/open.ts';
import { ScatterQueryService } from '../src/query/query-service.ts';
import { AutoFields } from '../src/store/auto-fields.ts';
import { Progress } from '../src/store/progress.ts';
import { beat, heartbeatMs, leave, liveProcesses } from '../src/store/registry.ts';

runProcess('web', async () => {
  const { settings, store, configuration, log } = await openProcess('web', redisCommandTimeoutMs);
  const id = `web-${randomBytes(4).toString('hex')}`;
  const metrics = new Metrics(id);
  const progress = new Progress(store);
  progress.start();
  const query = new ScatterQueryService({
    store,
    processId: id,
    progress,
    autoFields: new AutoFields(store),
  });
  await query.start();
  const entityReader = new EntityReader(log);
  const services: Services = {
    store,
    configuration,
    progress,
    query,
    entityReader,
    metrics,
    headerPrefixes: settings.headerPrefixes,
    waitingFor: () => waitingFor({ store, configuration, progress, draining: () => server.draining }),
  };
  const server: HttpServer = new HttpServer({ services, handlers: handlersFor(services), log });
  metrics.partitionGauge('millrace_stream_backlog_entries', 'Stream entries that wait in a partition', () =>
    progress.backlogs(),
  );
  metrics.addCollector(async () => {
    const processes = await liveProcesses(store);
    return processes
      .filter((process) => process.id !== id)
      .map((process) => ({ process: process.id, text: process.metrics }));
  });
  const heartbeat = setInterval(() => {
    metrics
      .ownText()
      .then((text) =>
        beat(store, {
          id,
          role: 'web',
          host: hostname(),
          pid: process.pid,
          generation: configuration.generation,
          partitions: [],
          waitingFor: [],
          metrics: text,
        }),
      )
      .catch(() => {});
  }, heartbeatMs);

  const port = await server.listen(settings.host, settings.port);
  log.info({ id, host: settings.host, port }, 'web is listening');

  stopOnSignal(async () => {
    log.info({ id }, 'web is stopping');
    await server.close();
    clearInterval(heartbeat);
    await query.close();
    progress.close();
    configuration.close();
    await entityReader.close();
    await leave(store, id).catch(() => {});
    await store.close();
  });
});
