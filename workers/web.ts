/** Entry point of an HTTP front: `npm run web`, and `web` in the Procfile. */
import '../src/process/http-library.ts';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkTlsFiles } from '../src/config/settings/tls-files.ts';
import { hashedForm } from '../src/config/tenant/api-key.ts';
import { AnswerCache } from '../src/http/cache/answer-cache.ts';
import { LargeAnswers } from '../src/http/delivery/large-answers.ts';
import { handlersFor } from '../src/http/handlers.ts';
import { EntityReader } from '../src/http/ingest/entity-reader.ts';
import { IngestPace } from '../src/http/ingest/pace.ts';
import { FrontMetrics } from '../src/http/operations/front-metrics.ts';
import { readinessOf } from '../src/http/operations/readiness.ts';
import { RequestRate } from '../src/http/operations/request-rate.ts';
import { HttpServer } from '../src/http/server.ts';
import type { Services } from '../src/http/services.ts';
import { connectionsMax } from '../src/http/uws/connection-limit.ts';
import { openProcess, runProcess, stopOnSignal } from '../src/process/context.ts';
import { collectProcessFigures } from '../src/process/process-figures.ts';
import { ScatterQueryService } from '../src/query/front/scatter-query-service.ts';
import { AutoFields } from '../src/store/entities/auto-fields.ts';
import { Heartbeat, heartbeatMs } from '../src/store/processes/heartbeat.ts';
import { Progress } from '../src/store/visibility/progress.ts';

runProcess('web', async () => {
  const context = await openProcess('web');
  const { settings, store, configuration, log } = context;
  const { tls, rateLimit, openRateLimit, frontLimits: limits } = settings;
  if (tls !== null) checkTlsFiles(tls);
  const id = `web-${randomBytes(4).toString('hex')}`;
  const metrics = new FrontMetrics(id);
  collectProcessFigures(metrics.registry);
  const progress = new Progress(store);
  const autoFields = new AutoFields(store);
  configuration.onChange((current, former) => autoFields.forgetChanged(current, former));
  const query = new ScatterQueryService({ store, processId: id, progress, autoFields, limits });
  await query.start();
  const cache = new AnswerCache(settings.deliveryCacheBytes);
  progress.onChange((_partition, digests) => cache.invalidate(digests));
  configuration.onChange(() => cache.empty());
  const pace = new IngestPace(progress, limits);
  progress.start();
  const entityReader = new EntityReader(log);
  const services: Services = {
    store,
    configuration,
    progress,
    pace,
    query,
    cache,
    largeAnswers: new LargeAnswers(),
    autoFields,
    entityReader,
    metrics,
    limits,
    metricsKeyHash: settings.metricsKey === null ? null : hashedForm(settings.metricsKey),
    headerPrefixes: settings.headerPrefixes,
    readiness: () => readinessOf({ store, configuration, progress, draining: () => server.draining }),
  };
  const server: HttpServer = new HttpServer({
    services,
    handlers: handlersFor(services),
    log,
    tls,
    rateLimit,
    openRateLimit,
    connectionsMax: connectionsMax(),
  });
  metrics.gaugeOfPartitions(
    'millrace_stream_backlog_entries',
    'Stream entries that wait in a partition',
    () => progress.backlogs(),
  );
  for (const name of ['entries', 'bytes'] as const) {
    metrics.gaugeOf(`millrace_delivery_cache_${name}`, `Delivery cache: ${name}`, () => cache.figures[name]);
  }
  for (const name of ['hits', 'misses', 'evicted', 'invalidated'] as const) {
    metrics.countOf(
      `millrace_delivery_cache_${name}_total`,
      `Delivery cache: ${name}`,
      () => cache.figures[name],
    );
  }
  metrics.addCollector(() => store.registry.metrics(id));
  const requestRate = new RequestRate(metrics, performance.now());
  let requestsPerSecond = 0;
  const rating = setInterval(() => {
    requestsPerSecond = requestRate.perSecond(performance.now());
  }, heartbeatMs);
  const heartbeat = new Heartbeat(store, {
    beat: () => ({
      id,
      role: 'web',
      host: hostname(),
      pid: process.pid,
      generation: configuration.generation,
      layouts: 0,
      partitions: [],
      waitingFor: [],
      requestsPerSecond,
    }),
    metrics: () => metrics.text(),
  });
  configuration.onChange(() => heartbeat.tell());

  const port = await server.listen(settings.host, settings.port);
  log.info({ id, host: settings.host, port, tls: tls !== null }, 'web is listening');

  stopOnSignal(context, async () => {
    await server.close();
    clearInterval(rating);
    await query.close();
    progress.close();
    configuration.close();
    await entityReader.close();
    await heartbeat.close();
    await store.close();
  });
});
