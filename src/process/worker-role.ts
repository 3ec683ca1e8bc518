/** The worker role: creates and connects the parts of a partition worker. */
import { ThreadedKeeper } from '../actors/ownership/threaded-keeper.ts';
import { Worker } from '../actors/worker.ts';
import type { ProcessMetrics } from '../lib/process-metrics.ts';
import { ShardCopies } from '../query/worker/copies/shard-copies.ts';
import { Responder } from '../query/worker/responder.ts';
import { ShardSet } from '../query/worker/shard-set.ts';
import { OwnedShards } from '../query/worker/shard-state.ts';
import { snapshotsOf } from '../query/worker/snapshots/shard-snapshots.ts';
import { fetchedItems } from '../store/derived/items.ts';
import { AutoFields } from '../store/entities/auto-fields.ts';
import { openRole, type RunningRole } from './process-context.ts';

export async function startWorker(): Promise<RunningRole> {
  const context = await openRole('worker');
  const { settings, store, configuration, log } = context;
  const onError = (message: string, error: unknown) => log.error({ err: error }, message);

  const autoFields = new AutoFields(store);
  configuration.onChange((current, former) => autoFields.forgetChanged(current, former));
  const hasCopies = settings.shardCopies > 1;
  const owned = new ShardSet(store, autoFields, configuration.current);
  const worker = new Worker({
    store,
    configuration,
    autoFields,
    items: hasCopies ? fetchedItems : owned,
    namesItems: hasCopies,
    leaseMs: settings.leaseMs,
    changesRetentionMs: settings.changesRetentionMs,
    waitingFor: () => copies?.waitingFor ?? owned.held.waitingFor,
    queryAddresses: () => responder.addresses,
    shardCopies: () => copies?.beat ?? null,
    openKeeper: (host, terms, events) => new ThreadedKeeper(host, terms, events),
    onLeases: (event, partitions) =>
      log[event === 'lost' ? 'warn' : 'info']({ partitions }, `partitions were ${event}`),
    onError,
  });
  const openSnapshots =
    settings.snapshotDir === null
      ? null
      : snapshotsOf({
          folder: settings.snapshotDir,
          workerId: worker.id,
          store,
          autoFields,
          onRestored: (index, items) => log.info({ index, items }, 'a snapshot was read'),
          onOutdated: (indexes) =>
            log.info(
              { indexes },
              'snapshots were outdated: another version or other definitions made them, so their items are loaded from Redis instead',
            ),
          onError,
        });
  const copies: ShardCopies | null = hasCopies
    ? new ShardCopies({
        store,
        workerId: worker.id,
        copies: settings.shardCopies,
        autoFields,
        configuration: configuration.current,
        openSnapshots,
        onError,
      })
    : null;
  const responder: Responder = new Responder({
    store,
    workerId: worker.id,
    shards: copies ?? new OwnedShards(owned, () => worker.covered(), store.partitions.count),
    listen: { host: settings.workerHost, port: settings.workerPort, announced: settings.workerAddress },
    queryCpuMs: settings.queryCpuMs,
    onStranger: (from) =>
      log.warn(
        { from },
        'a connection to this worker was closed: its other end does not know the key of the store. Further ones are not logged',
      ),
    onError: (error) => onError('a query broke', error),
  });
  registerMetrics(worker.metrics, responder, copies);

  configuration.onChange((current) => {
    (copies ?? owned)
      .reconfigure(current)
      .catch((error: unknown) => onError('an index was not rebuilt', error));
  });

  const snapshots = hasCopies ? null : (openSnapshots?.('owned') ?? null);
  await snapshots?.restore(owned, configuration.current);
  await responder.start();
  copies?.start();
  worker.start(
    snapshots && {
      partitions: owned.restoredPartitions,
      othersAreRestoring: () => snapshots.othersAreRestoring(),
    },
  );
  snapshots?.watch(owned);
  log.info({ id: worker.id }, 'worker is running');

  const stop = async (endsMs: number) => {
    const waitMs = (endsMs - performance.now()) / 2;
    await Promise.all([copies?.untilReplaced(waitMs), worker.untilReplaceable(waitMs)]);
    if (snapshots !== null) owned.keepAll();
    await worker.stop();
    await responder.close();
    await snapshots?.close(owned, endsMs);
    await copies?.close(endsMs);
    configuration.close();
    await store.close();
  };
  const metrics = { registry: worker.metrics.registry, text: () => worker.metricsText() };
  return { context, id: worker.id, role: 'worker', metrics, stop };
}

function registerMetrics(metrics: ProcessMetrics, responder: Responder, copies: ShardCopies | null): void {
  metrics.countOf(
    'millrace_queries_refused_total',
    'Queries rejected because they exceeded their processor time',
    () => responder.stats.refused,
  );
  metrics.countOf(
    'millrace_query_pauses_total',
    'Times that a query yielded to other work',
    () => responder.stats.pauses,
  );
  metrics.countOf(
    'millrace_queries_dropped_total',
    'Requests of fronts dropped because their time limit had passed',
    () => responder.stats.dropped,
  );
  metrics.gaugeOf(
    'millrace_shard_copies_partitions',
    'Partitions whose shards this worker holds as copies',
    () => copies?.partitions ?? 0,
  );
  metrics.gaugeOf(
    'millrace_shard_copies_commits_behind',
    'Announced commits that the shard copies of this worker have not applied completely',
    () => copies?.commitsBehind ?? 0,
  );
}
