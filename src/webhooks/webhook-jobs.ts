/** Each webhook has one job for its whole life; the process that runs the job is the only sender. */
import { randomBytes } from 'node:crypto';
import { Feed, type FeedOptions } from '../feed/feed.ts';
import { repeat } from '../lib/repeat.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { JobQueue, JobRunner } from '../store/configuration/jobs-queue.ts';
import { StoreUnavailableError } from '../store/redis/redis-errors.ts';
import { readWebhookStates, webhookField } from '../store/webhooks/webhook-states.ts';
import { LogWatch } from './log-watch.ts';
import { type Configured, Sender, type SenderOptions } from './sender.ts';
import { webhookStatusOf } from './webhook-status.ts';

const queueName = 'webhook';
const concurrency = 10_000;
const pollMs = 300;
/** How often missing jobs are added and the backlog of each webhook is counted. */
const maintenanceMs = 5_000;

interface WebhookTask {
  readonly field: string;
}

export interface WebhookStats {
  readonly tenant: string;
  readonly alias: string;
  /** Log entries after its position. */
  readonly behind: number;
  /** True if its last request failed, or its receiver has rejected further ones. */
  readonly isFailing: boolean;
}

export interface WebhookJobsOptions extends SenderOptions, Pick<FeedOptions, 'retentionMs'> {
  readonly configuration: ActiveConfiguration;
  /** Called regularly with the state of all webhooks. */
  onStats(webhooks: readonly WebhookStats[]): void;
}

export class WebhookJobs {
  readonly #stop = new AbortController();
  readonly #watch: LogWatch;
  #queue: JobQueue<WebhookTask, object> | null = null;
  #runner: JobRunner<WebhookTask, object> | null = null;
  #running: Promise<unknown>[] = [];
  #configured: ReadonlyMap<string, Configured> = new Map();
  #maintainedMs = 0;
  #generation = 0;

  constructor(private readonly options: WebhookJobsOptions) {
    this.#watch = new LogWatch(options.store);
  }

  start(): void {
    const { signal } = this.#stop;
    const onError = (error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) this.options.onError('webhooks stumbled', error);
    };
    this.#running = [repeat(() => this.#poll(), { pauseMs: pollMs, signal, onError })];
  }

  /** Aborts running requests. Another process or the next start repeats them. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#runner?.stop();
    await this.#queue?.close();
  }

  async #poll(): Promise<void> {
    const { configuration } = this.options;
    if (!configuration.loaded) return;
    const isNew = configuration.generation !== this.#generation;
    if (isNew) {
      this.#generation = configuration.generation;
      this.#configured = this.#read();
    } else if (this.#configured.size === 0) return;
    if (!isNew && performance.now() - this.#maintainedMs < maintenanceMs) return;
    this.#maintainedMs = performance.now();
    if (this.#configured.size > 0) await this.#maintain();
    else this.options.onStats([]);
  }

  #read(): Map<string, Configured> {
    const { store, configuration, retentionMs } = this.options;
    const found = new Map<string, Configured>();
    for (const { alias: tenant, webhooks } of configuration.current.tenants.values()) {
      for (const webhook of webhooks) {
        const field = webhookField(tenant, webhook);
        const scope = { tenant, environmentId: webhook.environment.id };
        const feed =
          this.#configured.get(field)?.feed ?? new Feed({ store, configuration, retentionMs }, scope);
        found.set(field, { tenant, webhook, feed });
      }
    }
    return found;
  }

  async #maintain(): Promise<void> {
    const { store } = this.options;
    const queue = this.#work();
    const states = [...(await readWebhookStates(store)).values()];
    // The id includes the start time, because BullMQ ignores ids of finished jobs, and a webhook may be removed and added
    // again.
    await queue.add(
      states.map(({ field, state }) => ({ id: `webhook-${field}-${state.begunAt}`, task: { field } })),
    );
    const configuredStates = states.flatMap(({ field, state }) => {
      const configured = this.#configured.get(field);
      return configured === undefined ? [] : [{ ...configured, state }];
    });
    this.options.onStats(
      await Promise.all(
        configuredStates.map(async ({ tenant, webhook, feed, state }) => {
          const { alias, behind, state: status } = await webhookStatusOf(store, feed, webhook, state);
          const isFailing = status === 'retrying' || status === 'refused' || state.isDisabled === true;
          return { tenant, alias, behind, isFailing };
        }),
      ),
    );
  }

  /** Starts on first use, so that a platform without webhooks has no cost. */
  #work(): JobQueue<WebhookTask, object> {
    if (this.#queue !== null) return this.#queue;
    const { store, onError } = this.options;
    this.#queue = new JobQueue(store, queueName);
    this.#running.push(this.#watch.run(this.#stop.signal));
    this.#runner = new JobRunner<WebhookTask, object>(
      store,
      queueName,
      concurrency,
      ({ task, signal }) => this.#send(task.field, signal),
      onError,
    );
    return this.#queue;
  }

  #send(field: string, signal: AbortSignal): Promise<void> {
    const configured = () => this.#configured.get(field) ?? null;
    const token = randomBytes(8).toString('hex');
    return new Sender(this.options, this.#watch, configured, field, token).run(signal);
  }
}
