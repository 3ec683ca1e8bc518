/**
 * Sends the changes that one webhook has not yet received. Its state in the store is only written by compare-and-set, so the
 * next write detects if another process took over the job, or if a person set the cursor (docs/design/changes.md "Webhooks").
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Webhook } from '../config/configuration.ts';
import { formatEntityId, parseViewId } from '../contract/ids.ts';
import { webhookBatchSizeMax } from '../contract/limits.ts';
import type { Feed, FeedChange } from '../feed/feed.ts';
import { OffsetGoneError } from '../feed/log-page.ts';
import type { Position } from '../feed/offset.ts';
import { StoreUnavailableError } from '../store/redis/redis-errors.ts';
import type { Store } from '../store/store.ts';
import {
  changeWebhookState,
  lastTrace,
  readWebhookState,
  replaceWebhookState,
  type StoredState,
  type WebhookState,
} from '../store/webhooks/webhook-states.ts';
import type { AddressGuard } from './allowed-addresses.ts';
import type { LogWatch } from './log-watch.ts';
import { changesMessage, requestSize, type SentChange, signedPost } from './message.ts';
import { AddressRefusedError, NoResponseError, type Posted, post, retryDelay } from './post.ts';
import { positionOf } from './webhook-status.ts';

export type Outcome = 'sent' | 'failed' | 'refused' | 'gone';

export interface WebhookFailure {
  readonly outcome: Outcome;
  /** Null: no response. */
  readonly status: number | null;
  /** Number of consecutive failed attempts. */
  readonly failures: number;
}

/** A webhook, and the feed of its environment. */
export interface Configured {
  readonly tenant: string;
  readonly webhook: Webhook;
  readonly feed: Feed;
}

/** The callbacks name a webhook by its tenant and alias. */
export interface SenderOptions {
  readonly store: Store;
  readonly guard: AddressGuard;
  readonly publicUrl: string;
  onAttempt(tenant: string, alias: string, outcome: Outcome): void;
  /** Called for the first failure, and then once per hour while it keeps failing. */
  onFailing(tenant: string, alias: string, failure: WebhookFailure): void;
  /** Called when a failing webhook has accepted a request, or has nothing left to receive. */
  onWorking(tenant: string, alias: string): void;
  onError(message: string, error: unknown): void;
  /** Milliseconds since 1970; absent: the system clock. */
  readonly now?: () => number;
}

/** How often an idle sender checks whether its cursor was set. */
const lookMs = 500;
const errorPauseMs = 1000;
const warnEveryMs = 3_600_000;
/** How often the cursor is stored while it skips changes that the webhook does not receive. */
const passingMs = 1000;

export class Sender {
  #passedMs = Number.NEGATIVE_INFINITY;
  /** The state text and watch count at which nothing was left to send. */
  #quiet: { readonly text: string; readonly count: number } | null = null;
  readonly #now: () => number;

  /**
   * @param configured the webhook as it is now; null: it no longer exists
   * @param token identifies this run
   */
  constructor(
    private readonly options: SenderOptions,
    private readonly watch: LogWatch,
    private readonly configured: () => Configured | null,
    private readonly field: string,
    private readonly token: string,
  ) {
    this.#now = options.now ?? Date.now;
  }

  /** Sends until the webhook is removed or another run has taken over. @throws the reason of the signal */
  async run(signal: AbortSignal): Promise<void> {
    for (let isOurs = false; ; ) {
      signal.throwIfAborted();
      try {
        if (!isOurs && !(await this.#take())) return;
        isOurs = true;
        if (!(await this.#step(signal))) return;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof StoreUnavailableError)) this.options.onError('a webhook stumbled', error);
        await sleep(errorPauseMs, undefined, { signal });
      }
    }
  }

  async #take(): Promise<boolean> {
    const { store } = this.options;
    const taken = await changeWebhookState(store, this.field, (state) => ({ ...state, sender: this.token }));
    return taken !== null;
  }

  /** @returns false if there is nothing left to do */
  async #step(signal: AbortSignal): Promise<boolean> {
    const { watch } = this;
    const stored = await readWebhookState(this.options.store, this.field);
    const configured = this.configured();
    if (stored === null || stored.state.sender !== this.token) return false;
    if (configured === null) {
      // This process has not received the configuration yet.
      await sleep(lookMs, undefined, { signal });
      return true;
    }
    const { isDisabled, nextAttemptAt = 0, lastAttemptAt = 0 } = stored.state;
    const nowMs = this.#now();
    // Before the last attempt: the clock was set back, or another process with another clock made the attempt.
    const waitMs = nowMs < lastAttemptAt ? 0 : nextAttemptAt - nowMs;
    if (isDisabled === true || configured.webhook.secrets.length === 0)
      await sleep(lookMs, undefined, { signal });
    else if (waitMs > 0) await sleep(Math.min(lookMs, waitMs), undefined, { signal });
    else if (this.#quiet?.text === stored.text && this.#quiet.count === watch.count)
      await watch.wait(lookMs, signal);
    else await this.#sendNext(stored, configured, signal);
    return true;
  }

  async #sendNext(stored: StoredState, configured: Configured, signal: AbortSignal): Promise<void> {
    const { feed } = configured;
    const { count } = this.watch;
    try {
      const from = await positionOf(feed, stored.state);
      const until = stored.state.until === undefined ? null : feed.positionOf(stored.state.until);
      const pending = await this.#gather(configured, from, until, signal);
      const target = until ?? pending.position;
      if (pending.changes.length > 0) {
        const claimed = await this.#replace(stored, {
          offset: feed.offsetOf(from),
          until: feed.offsetOf(target),
        });
        if (claimed !== null) await this.#send(claimed, configured, pending.changes, target, signal);
        return;
      }
      await this.#pass(stored, configured, target, until !== null, count);
    } catch (error) {
      if (!(error instanceof OffsetGoneError)) throw error;
      // The receiver was unreachable for longer than removals are kept, so it gets a full copy.
      this.options.onError(
        'a webhook begins again with everything: what it missed is no longer known',
        error,
      );
      await this.#replace(stored, { offset: feed.offsetOf(await feed.beginning()), until: undefined });
    }
  }

  /** Skips to a position, because the webhook receives nothing before it. */
  async #pass(
    stored: StoredState,
    { tenant, webhook, feed }: Configured,
    target: Position,
    isRetry: boolean,
    count: number,
  ): Promise<void> {
    const offset = feed.offsetOf(target);
    if (isRetry || (offset !== stored.state.offset && performance.now() - this.#passedMs > passingMs)) {
      this.#passedMs = performance.now();
      const passed = await this.#replace(stored, { offset, until: undefined, ...noFailure });
      if (passed !== null && stored.state.warnedAt !== undefined)
        this.options.onWorking(tenant, webhook.alias);
      if (passed !== null && !isRetry) this.#quiet = { text: passed.text, count };
      return;
    }
    this.#quiet = offset === stored.state.offset ? { text: stored.text, count } : null;
    if (this.#quiet === null) await sleep(passingMs / 5);
  }

  /** The next changes for the webhook. A first attempt waits until they fill a request or the batch time is over. */
  async #gather(
    { webhook, feed }: Configured,
    from: Position,
    until: Position | null,
    signal: AbortSignal,
  ): Promise<PendingChanges> {
    let pending = await pendingChanges(feed, webhook, from, until);
    const endsMs = performance.now() + webhook.batch.seconds * 1000;
    while (until === null && pending.changes.length > 0 && !pending.isFull && performance.now() < endsMs) {
      await this.watch.wait(endsMs - performance.now(), signal);
      pending = await pendingChanges(feed, webhook, from, null);
    }
    return pending;
  }

  /** Sends one request after another; the cursor moves after each accepted request. */
  async #send(
    claimed: StoredState,
    { tenant, webhook, feed }: Configured,
    changes: readonly PendingChange[],
    target: Position,
    signal: AbortSignal,
  ): Promise<void> {
    const { guard, publicUrl } = this.options;
    const size = requestSize(webhook);
    let stored: StoredState | null = claimed;
    for (let at = 0; at < changes.length && stored !== null; at += size) {
      const part = changes.slice(at, at + size);
      const isLast = at + size >= changes.length;
      const position = isLast ? target : (part.at(-1)?.position ?? target);
      const from = [this.field, stored.state.offset ?? ''];
      const message = changesMessage(
        webhook,
        from,
        part.map(({ change }) => change),
        publicUrl,
      );
      const trace = await this.#traceOf(feed, part);
      const result = await attempt(() =>
        post(signedPost(webhook, message, new Date(this.#now()), trace), guard, signal),
      );
      signal.throwIfAborted();
      const outcome = outcomeOf(result);
      this.options.onAttempt(tenant, webhook.alias, outcome);
      const offset = feed.offsetOf(position);
      const passed = { offset, until: isLast ? undefined : stored.state.until, ...noFailure };
      const { warnedAt, failures = 0 } = stored.state;
      const status = 'status' in result ? result.status : undefined;
      const nowMs = this.#now();
      const isWarned = outcome !== 'sent' && nowMs - (warnedAt ?? 0) >= warnEveryMs;
      stored = await this.#replace(stored, {
        ...(outcome === 'sent' ? passed : failed(outcome, result, stored.state, nowMs)),
        ...(isWarned && { warnedAt: nowMs }),
        lastStatus: status,
        lastAttemptAt: nowMs,
      });
      if (stored !== null && isWarned) {
        const failure = { outcome, status: status ?? null, failures: failures + 1 };
        this.options.onFailing(tenant, webhook.alias, failure);
      }
      if (outcome !== 'sent') return;
      if (stored !== null && warnedAt !== undefined) this.options.onWorking(tenant, webhook.alias);
    }
  }

  /** A request has a single trace: that of the latest change with one. */
  async #traceOf(feed: Feed, part: readonly PendingChange[]): Promise<Readonly<Record<string, string>>> {
    const entityIds = part.flatMap(({ change }) => parseViewId(change.id) ?? []).map(formatEntityId);
    const traceparent = await lastTrace(this.options.store, feed.scope.tenant, entityIds);
    return traceparent === null ? {} : { traceparent };
  }

  /** Null if another process has written the state meanwhile; the next step starts from that. */
  #replace(stored: StoredState, changed: StateChange): Promise<StoredState | null> {
    return replaceWebhookState(this.options.store, stored, { ...stored.state, ...changed } as WebhookState);
  }
}

/** Members that are undefined are not stored. */
type StateChange = { readonly [Name in keyof WebhookState]?: WebhookState[Name] | undefined };

const noFailure: StateChange = {
  failures: undefined,
  isRefused: undefined,
  nextAttemptAt: undefined,
  warnedAt: undefined,
};

function failed(
  outcome: Outcome,
  result: Posted | Error,
  { failures = 0 }: WebhookState,
  nowMs: number,
): StateChange {
  const next = { failures: failures + 1, isRefused: outcome === 'refused' ? (true as const) : undefined };
  if (outcome === 'gone') return { ...next, isDisabled: true, nextAttemptAt: undefined };
  const retryAfter = 'status' in result ? result.retryAfter : null;
  return { ...next, nextAttemptAt: nowMs + retryDelay(next.failures, retryAfter, nowMs, Math.random()) };
}

async function attempt(send: () => Promise<Posted>): Promise<Posted | Error> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof AddressRefusedError || error instanceof NoResponseError) return error;
    throw error;
  }
}

function outcomeOf(result: Posted | Error): Outcome {
  if (!('status' in result)) return result instanceof AddressRefusedError ? 'refused' : 'failed';
  if (result.status === 410) return 'gone';
  return result.status >= 200 && result.status < 300 ? 'sent' : 'failed';
}

/** A change, and the position of the webhook after it. */
interface PendingChange {
  readonly change: SentChange;
  readonly position: Position;
}

interface PendingChanges {
  readonly changes: readonly PendingChange[];
  /** After them, and after any changes that the webhook does not receive. */
  readonly position: Position;
  /** True if they fill a request. */
  readonly isFull: boolean;
}

/**
 * @param until the last position to read; null: the present
 * @throws OffsetGoneError, StoreUnavailableError
 */
async function pendingChanges(
  feed: Feed,
  webhook: Webhook,
  from: Position,
  until: Position | null,
): Promise<PendingChanges> {
  const { size } = webhook.batch;
  const wanted: FeedChange[] = [];
  let position = from;
  let isAll = false;
  while (!isAll && wanted.length < size) {
    const page = await feed.page(position, webhookBatchSizeMax, until);
    wanted.push(...page.changes.filter((entry) => isWanted(webhook, entry)));
    position = page.position;
    isAll = page.isUpToDate;
  }
  const shown = webhook.isExpanded ? await feed.shownOn(wanted) : [];
  const changes = wanted.map((entry, at) => ({
    change: { ...entry.change, ...shown[at], ...optionsFor(webhook, entry) },
    position: entry.position,
  }));
  return { changes, position, isFull: wanted.length >= size };
}

function isWanted({ schemas, isDestination, alias }: Webhook, { change, destinations }: FeedChange): boolean {
  if (schemas !== null && !schemas.has(change.alias)) return false;
  return !isDestination || destinations.some((destination) => destination.alias === alias);
}

function optionsFor(
  { isDestination, alias }: Webhook,
  { destinations }: FeedChange,
): Pick<SentChange, 'options'> {
  const options = destinations.find((destination) => destination.alias === alias)?.options;
  return isDestination && options !== undefined ? { options } : {};
}
