/** The front role: creates and connects the parts of an HTTP front. */
import './check-http-library.ts';
import { randomBytes } from 'node:crypto';
import { checkTlsFiles } from '../config/settings/settings.ts';
import { hashedForm } from '../config/tenant/api-keys.ts';
import { consoleFiles } from '../console/files.mjs';
import type { FrontLimits } from '../contract/front-limits.ts';
import { referencedViewsShare, rowViewsShare } from '../contract/limits.ts';
import { LiveFeeds } from '../feed/live-feeds.ts';
import { AnswerCache } from '../http/cache/answer-cache.ts';
import type { RowViews } from '../http/cache/finished-answer.ts';
import { ReferencedViewCache } from '../http/cache/referenced-views.ts';
import { LiveAnswers } from '../http/delivery/live-answers.ts';
import { LargeAnswers } from '../http/delivery/view-loading.ts';
import { handlersFor } from '../http/handlers.ts';
import { EntityReader } from '../http/ingest/entity-reader.ts';
import { IngestRateController } from '../http/ingest/rate-controller.ts';
import { VisibilityWaits } from '../http/ingest/writes-under-way.ts';
import { FaultWatch } from '../http/operations/fault-watch.ts';
import { FrontLoad, RecentRates } from '../http/operations/front-load.ts';
import { FrontMetrics } from '../http/operations/front-metrics.ts';
import { FrontReadiness } from '../http/operations/readiness.ts';
import { HttpServer } from '../http/server.ts';
import type { Services } from '../http/services.ts';
import { connectionsMax } from '../http/uws/connection-limits.ts';
import { CachedPromise } from '../lib/shared-promises.ts';
import { ScatterQueryService } from '../query/front/scatter-query-service.ts';
import { AutoFields } from '../store/entities/auto-fields.ts';
import { beatOf, Heartbeat } from '../store/processes/heartbeat.ts';
import { Progress } from '../store/visibility/progress.ts';
import { AddressGuard } from '../webhooks/allowed-addresses.ts';
import { openRole, type RunningRole } from './process-context.ts';

export async function startFront(): Promise<RunningRole> {
  const context = await openRole('web');
  const { settings, store, configuration, log } = context;
  const { tls, rateLimit, openRateLimit } = settings;
  const limits: FrontLimits = settings;
  if (tls !== null) checkTlsFiles(tls);
  const id = `web-${randomBytes(4).toString('hex')}`;
  const metrics = new FrontMetrics(id);
  const progress = new Progress(store);
  const autoFields = new AutoFields(store);
  configuration.onChange((current, former) => autoFields.forgetChanged(current, former));
  const query = new ScatterQueryService({ store, progress, autoFields, limits });
  await query.start();
  const feeds = new LiveFeeds({ store, configuration, retentionMs: settings.changesRetentionMs }, (error) =>
    log.warn({ err: error }, 'the changes were not read; they are read again'),
  );
  progress.onChange(() => feeds.changed());
  metrics.gaugeOf('millrace_feed_followers', 'Clients waiting for the next change', () => feeds.followers);
  const { deliveryCacheBytes } = settings;
  const cache = new AnswerCache(deliveryCacheBytes * (1 - rowViewsShare - referencedViewsShare));
  const rowViews = new AnswerCache<RowViews>(deliveryCacheBytes * rowViewsShare);
  const referencedViews = new ReferencedViewCache(deliveryCacheBytes * referencedViewsShare);
  const caches = [cache, rowViews, referencedViews];
  progress.onChange((_partition, digests) => {
    for (const one of caches) one.invalidate(digests);
  });
  const liveAnswers = new LiveAnswers(limits.unsentAnswersBytes);
  progress.onChange((_partition, digests) => liveAnswers.changed(digests));
  const emptyCaches = () => {
    for (const one of caches) one.empty();
  };
  configuration.onChange(emptyCaches);
  // Cached answers list claims in the URL form of the time when they were read.
  configuration.onLayouts(emptyCaches);
  const pace = new IngestRateController(progress, limits);
  progress.start();
  const entityReader = new EntityReader(log);
  // In a clone, the first request builds the console.
  const consoleCache = new CachedPromise(consoleFiles, Number.POSITIVE_INFINITY);
  const recentRates = new RecentRates();
  const readiness = new FrontReadiness({
    store,
    configuration,
    progress,
    unreachableWorkers: () => query.unreachableWorkers,
    draining: () => server.draining,
  });
  const services: Services = {
    store,
    configuration,
    progress,
    pace,
    visibilityWaits: new VisibilityWaits(progress),
    query,
    cache,
    rowViews,
    referencedViews,
    feeds,
    liveAnswers,
    webhookGuard: new AddressGuard(settings.webhookAllow),
    largeAnswers: new LargeAnswers(),
    autoFields,
    entityReader,
    metrics,
    recentRates,
    limits,
    metricsKeyHash: settings.metricsKey === null ? null : hashedForm(settings.metricsKey),
    consoleFiles: settings.console ? () => consoleCache.get() : null,
    headerPrefixes: settings.headerPrefixes,
    readiness: () => readiness.check(),
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
  registerMetrics(metrics, progress, [cache, rowViews], referencedViews);
  const faults = new FaultWatch(readiness, log);
  faults.showIn(metrics);
  if (settings.metricsPort === null) metrics.addCollector(() => store.registry.metrics(id));
  const load = new FrontLoad(store, metrics);
  faults.start();
  recentRates.follow(store);
  const heartbeat = new Heartbeat(store, {
    beat: () => ({
      ...beatOf(id, 'web'),
      generation: configuration.generation,
      layouts: configuration.layouts.version,
      partitions: [],
      waitingFor: [],
      ...load.stats,
    }),
    metrics: () => metrics.text(),
  });
  configuration.onChange(() => heartbeat.send());
  configuration.onLayouts(() => heartbeat.send());

  // Keys and domains may have changed, so clients with event streams must reconnect.
  configuration.onChange(() => {
    feeds.endAll();
    server.endStreams();
  });

  const port = await server.listen(settings.host, settings.port);
  log.info({ id, host: settings.host, port, tls: tls !== null }, 'web is listening');

  const stop = async () => {
    faults.close();
    feeds.close();
    await server.close();
    load.close();
    recentRates.close();
    await query.close();
    progress.close();
    configuration.close();
    await entityReader.close();
    await heartbeat.close();
    await store.close();
  };
  return { context, id, role: 'web', metrics, stop };
}

function registerMetrics(
  metrics: FrontMetrics,
  progress: Progress,
  caches: readonly Pick<AnswerCache, 'stats'>[],
  referencedViews: ReferencedViewCache,
): void {
  const sumOf = (name: keyof AnswerCache['stats']) => caches.reduce((sum, { stats }) => sum + stats[name], 0);
  metrics.gaugeOfPartitions('millrace_stream_backlog_entries', 'Stream entries waiting, by partition', () =>
    progress.backlogs(),
  );
  for (const [name, help] of [
    ['entries', 'Entries in the delivery cache'],
    ['bytes', 'Bytes in the delivery cache'],
  ] as const) {
    metrics.gaugeOf(`millrace_delivery_cache_${name}`, help, () => sumOf(name) + referencedViews[name]);
  }
  for (const [name, help] of [
    ['hits', 'Requests answered from the delivery cache'],
    ['misses', 'Requests that the delivery cache could not answer'],
    ['evicted', 'Entries evicted from the delivery cache to make room'],
    ['invalidated', 'Entries removed from the delivery cache because they changed'],
  ] as const) {
    metrics.countOf(`millrace_delivery_cache_${name}_total`, help, () => sumOf(name));
  }
}
