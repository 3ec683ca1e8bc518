/** A jobs process: queues the rebuild of every new configuration, runs jobs, and reports their state. */

import type { Configuration } from '../config/configuration.ts';
import { sum } from '../lib/lists.ts';
import { ProcessMetrics } from '../lib/process-metrics.ts';
import { repeat } from '../lib/repeat.ts';
import { countClashes } from '../store/claims/claims.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { JobRunner } from '../store/configuration/jobs-queue.ts';
import { readGenerations } from '../store/configuration/published-configuration.ts';
import { AutoFields } from '../store/entities/auto-fields.ts';
import { beatOf, Heartbeat, newProcessId } from '../store/processes/heartbeat.ts';
import type { ProcessBeat } from '../store/processes/process-messages.ts';
import { StoreUnavailableError } from '../store/redis/redis-errors.ts';
import type { Store } from '../store/store.ts';
import { WebhookJobs, type WebhookJobsOptions } from '../webhooks/webhook-jobs.ts';
import { frontReportsEveryMs, PacedPortions } from './backpressure.ts';
import { runDryRun } from './dry-run/dry-run-job.ts';
import { type DryRunProgress, type DryRunTask, dryRunJobs, dryRunQueueName } from './dry-run/queue.ts';
import { LayoutWatch } from './layout-change.ts';
import { OwnerSlots } from './partition-job.ts';
import { publishRuntimeLookups } from './publish-runtime-lookups.ts';
import { type PurgeProgress, type PurgeTask, purgeJobs, purgeQueueName, runPurge } from './purge-job.ts';
import { runRebuild } from './rebuild-job.ts';
import {
  enqueueRebuild,
  type RebuildProgress,
  type RebuildTask,
  rebuildJobs,
  rebuildQueueName,
  rebuildState,
} from './rebuild-job-queue.ts';

/** Metrics of a jobs process. Fronts show them under `/metrics`, labelled with the process. */
class JobsMetrics extends ProcessMetrics {
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

const enqueueTickMs = 300;
const measureMs = 2_000;
const clashesMs = 15_000;
/** Purges are rare, and each check for interrupted ones writes to Redis. */
const brokenPurgeCheckMs = 15_000;

export interface JobsOptions {
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  /** Options of webhooks: allowed addresses, the public URL, retention, and callbacks. */
  readonly webhooks: Pick<
    WebhookJobsOptions,
    'guard' | 'publicUrl' | 'retentionMs' | 'onFailing' | 'onWorking'
  >;
  onError(message: string, error: unknown): void;
}

export class JobsProcess {
  readonly id = newProcessId();
  readonly metrics = new JobsMetrics();
  readonly #queue;
  readonly #purges;
  readonly #dryRuns;
  readonly #webhooks: WebhookJobs;
  readonly #stop = new AbortController();
  /** Last generation whose rebuild is known to be done, so that its jobs are not checked again. */
  #rebuilt = 0;
  #heartbeat: Heartbeat | null = null;
  #runner: JobRunner<RebuildTask, RebuildProgress> | null = null;
  #purger: JobRunner<PurgeTask, PurgeProgress> | null = null;
  #dryRunner: JobRunner<DryRunTask, DryRunProgress> | null = null;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: JobsOptions) {
    this.#queue = rebuildJobs(options.store);
    this.#purges = purgeJobs(options.store);
    this.#dryRuns = dryRunJobs(options.store);
    const { store, configuration, webhooks, onError } = options;
    this.#webhooks = new WebhookJobs({
      store,
      configuration,
      ...webhooks,
      onAttempt: (tenant, webhook, outcome) => this.metrics.webhookRequests.inc({ tenant, webhook, outcome }),
      onStats: (webhooks) => {
        this.metrics.webhookBehind.reset();
        this.metrics.webhookFailing.reset();
        for (const { tenant, alias: webhook, behind, isFailing } of webhooks) {
          this.metrics.webhookBehind.set({ tenant, webhook }, behind);
          this.metrics.webhookFailing.set({ tenant, webhook }, isFailing ? 1 : 0);
        }
      },
      onError,
    });
  }

  start(): void {
    const { store, configuration, onError } = this.options;
    const context = {
      store,
      configuration,
      autoFields: new AutoFields(store),
      slots: new OwnerSlots(),
      layoutWatch: new LayoutWatch(store),
      pace: new PacedPortions(store),
      onInvalidated: (count: number) => this.metrics.entitiesInvalidated.inc(count),
    };
    this.#runner = new JobRunner(
      store,
      rebuildQueueName,
      // Jobs wait for each other, so all of them must be able to run. The slots limit how many work at a time.
      store.partitions.count,
      (run) => runRebuild(context, run),
      onError,
    );
    this.#purger = new JobRunner(
      store,
      purgeQueueName,
      store.partitions.count,
      (run) => runPurge(context, run),
      onError,
      brokenPurgeCheckMs,
    );
    // One at a time, because dry runs use the processor of this process.
    this.#dryRunner = new JobRunner(store, dryRunQueueName, 1, (run) => runDryRun(context, run), onError);
    this.#webhooks.start();
    this.#heartbeat = new Heartbeat(store, {
      beat: () => this.#beat(),
      metrics: () => this.metrics.text(),
    });
    configuration.onChange(() => this.#heartbeat?.send());
    this.#running = Promise.all([
      this.#repeat(enqueueTickMs, () => this.#enqueue()),
      this.#repeat(measureMs, () => this.#measure()),
      this.#repeat(clashesMs, () => this.#countClashes()),
      this.#repeat(frontReportsEveryMs, () => context.pace.update()),
    ]);
  }

  /** Interrupts running jobs. Another process continues them, or this one after a restart. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#running, this.#webhooks.stop()]);
    await Promise.all([this.#runner?.stop(), this.#purger?.stop(), this.#dryRunner?.stop()]);
    await Promise.all([this.#queue.close(), this.#purges.close(), this.#dryRuns.close()]);
    await this.#heartbeat?.close();
  }

  #repeat(pauseMs: number, act: () => Promise<void>): Promise<void> {
    const onError = (error: unknown) => {
      // A lost connection to Redis is reported elsewhere.
      if (!(error instanceof StoreUnavailableError))
        this.options.onError('unexpected error in the jobs process', error);
    };
    return repeat(act, { pauseMs, signal: this.#stop.signal, onError });
  }

  #beat(): ProcessBeat {
    return {
      ...beatOf(this.id, 'jobs'),
      generation: this.options.configuration.generation,
      layouts: 0,
      partitions: [],
      waitingFor: [],
    };
  }

  async #enqueue(): Promise<void> {
    const { store, configuration } = this.options;
    await publishRuntimeLookups(store, configuration.loaded ? configuration.current : null);
    const { active, enqueued } = await readGenerations(store);
    if (active > enqueued) await enqueueRebuild(store, this.#queue, active);
  }

  async #measure(): Promise<void> {
    const { store, configuration } = this.options;
    for (const [queue, jobs] of [
      [rebuildQueueName, this.#queue],
      [purgeQueueName, this.#purges],
      [dryRunQueueName, this.#dryRuns],
    ] as const) {
      for (const [state, count] of Object.entries(await jobs.counts())) {
        this.metrics.jobs.set({ queue, state }, count);
      }
    }
    const { generation } = configuration;
    if (generation === 0 || generation === this.#rebuilt) return;
    const { percent, isDone } = await rebuildState(store, this.#queue, generation);
    this.metrics.rebuildPercent.set(percent);
    if (isDone) this.#rebuilt = generation;
  }

  async #countClashes(): Promise<void> {
    const { store, configuration } = this.options;
    if (!configuration.loaded) return;
    const { tenants }: Configuration = configuration.current;
    const clashes = new Map<string, number>();
    for (const { alias, environments } of tenants.values()) {
      const counts = await Promise.all(
        environments.map(({ id }) => countClashes(store, { tenant: alias, environmentId: id })),
      );
      clashes.set(alias, sum(counts));
    }
    // Removes the metrics of removed tenants.
    this.metrics.clashes.reset();
    for (const [tenant, count] of clashes) this.metrics.clashes.set({ tenant }, count);
  }
}
