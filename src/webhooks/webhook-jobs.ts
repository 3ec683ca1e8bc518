/** One job for each webhook, which lasts as long as the webhook: the process that runs it is its only sender. */
import { randomBytes } from 'node:crypto';
import type { Webhook } from '../config/configuration.ts';
import { Feed, type FeedOptions } from '../feed/feed.ts';
import { repeat } from '../lib/repeat.ts';
import type { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import { JobRunner } from '../store/configuration/job-runner.ts';
import { JobQueue } from '../store/configuration/jobs-queue.ts';
import { StoreUnavailableError } from '../store/redis/redis-errors.ts';
import { readWebhookStates, webhookField } from '../store/webhooks/webhook-states.ts';
import { LogWatch } from './log-watch.ts';
import { Sender, type SenderOptions, type WebhookFailure } from './sender.ts';
import { webhookStatusOf } from './webhook-status.ts';

const queueName = 'webhook';
const concurrency = 10_000;
const lookMs = 300;
/** How often the jobs of webhooks that are known are looked after, and what waits for them is counted. */
const careMs = 5_000;

interface WebhookTask {
  readonly field: string;
}

export interface WebhookFigures {
  readonly tenant: string;
  readonly alias: string;
  /** Entries of the log that it has not passed. */
  readonly behind: number;
  /** Its last request failed, or its receiver has refused further ones. */
  readonly isFailing: boolean;
}

export interface WebhookJobsOptions
  extends Pick<SenderOptions, 'store' | 'guard' | 'publicUrl' | 'onTrouble'>,
    Pick<FeedOptions, 'retentionMs'> {
  readonly configuration: ActiveConfiguration;
  onAttempt(tenant: string, alias: string, outcome: string): void;
  /** See `SenderOptions`. */
  onFailing(tenant: string, alias: string, failure: WebhookFailure): void;
  onWorking(tenant: string, alias: string): void;
  /** Called regularly with the state of all webhooks. */
  onFigures(figures: readonly WebhookFigures[]): void;
}

interface Configured {
  readonly tenant: string;
  readonly webhook: Webhook;
  readonly feed: Feed;
}

export class WebhookJobs {
  readonly #stop = new AbortController();
  readonly #watch: LogWatch;
  #queue: JobQueue<WebhookTask, object> | null = null;
  #runner: JobRunner<WebhookTask, object> | null = null;
  #running: Promise<unknown>[] = [];
  #configured: ReadonlyMap<string, Configured> = new Map();
  #caredAt = 0;
  #generation = 0;

  constructor(private readonly options: WebhookJobsOptions) {
    this.#watch = new LogWatch(options.store);
  }

  start(): void {
    const { signal } = this.#stop;
    const onError = (error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) this.options.onTrouble('webhooks stumbled', error);
    };
    this.#running = [repeat(() => this.#look(), { pauseMs: lookMs, signal, onError })];
  }

  /** Breaks off what is being sent. Another process, or the next start, sends it again. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#runner?.stop();
    await this.#queue?.close();
  }

  async #look(): Promise<void> {
    const { configuration } = this.options;
    if (!configuration.loaded) return;
    const isNew = configuration.generation !== this.#generation;
    if (isNew) {
      this.#generation = configuration.generation;
      this.#configured = this.#read();
    } else if (this.#configured.size === 0) return;
    if (!isNew && Date.now() - this.#caredAt < careMs) return;
    this.#caredAt = Date.now();
    if (this.#configured.size > 0) await this.#care();
    else this.options.onFigures([]);
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

  async #care(): Promise<void> {
    const { store } = this.options;
    const queue = this.#work();
    const states = [...(await readWebhookStates(store)).values()];
    // One that was taken out and put in again is another one: BullMQ remembers the ids of jobs that are done.
    await queue.add(
      states.map(({ field, state }) => ({ id: `webhook-${field}-${state.begunAt}`, task: { field } })),
    );
    const standings = states.flatMap(({ field, state }) => {
      const configured = this.#configured.get(field);
      return configured === undefined ? [] : [{ ...configured, state }];
    });
    this.options.onFigures(
      await Promise.all(
        standings.map(async ({ tenant, webhook, feed, state }) => {
          const { alias, behind, state: word } = await webhookStatusOf(store, feed, webhook, state);
          const isFailing = word === 'retrying' || word === 'refused' || state.isDisabled === true;
          return { tenant, alias, behind, isFailing };
        }),
      ),
    );
  }

  /** A platform without webhooks spends nothing on them. */
  #work(): JobQueue<WebhookTask, object> {
    if (this.#queue !== null) return this.#queue;
    const { store, guard, publicUrl, onTrouble } = this.options;
    this.#queue = new JobQueue(store, queueName);
    this.#running.push(this.#watch.run(this.#stop.signal));
    const told = (field: string, tell: (tenant: string, alias: string) => void) => {
      const configured = this.#configured.get(field);
      if (configured !== undefined) tell(configured.tenant, configured.webhook.alias);
    };
    const { onAttempt, onFailing, onWorking } = this.options;
    const options: SenderOptions = {
      store,
      watch: this.#watch,
      guard,
      publicUrl,
      configured: (field) => this.#configured.get(field) ?? null,
      onAttempt: (field, outcome) => told(field, (tenant, alias) => onAttempt(tenant, alias, outcome)),
      onFailing: (field, failure) => told(field, (tenant, alias) => onFailing(tenant, alias, failure)),
      onWorking: (field) => told(field, onWorking),
      onTrouble,
    };
    this.#runner = new JobRunner<WebhookTask, object>(
      store,
      queueName,
      concurrency,
      ({ task, signal }) => new Sender(options, task.field, randomBytes(8).toString('hex')).run(signal),
      onTrouble,
    );
    return this.#queue;
  }
}
