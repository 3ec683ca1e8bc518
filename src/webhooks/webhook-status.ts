/** The status of a webhook as shown to users (docs/reference/management.md "Webhooks"). */
import type { Webhook } from '../config/configuration.ts';
import type { Feed } from '../feed/feed.ts';
import type { Position } from '../feed/offset.ts';
import { countChangesAfter } from '../store/change-log/entries.ts';
import type { Store } from '../store/store.ts';
import type { WebhookState } from '../store/webhooks/webhook-states.ts';

export interface WebhookStatus {
  readonly alias: string;
  /** Alias of the environment. */
  readonly environment: string;
  readonly url: string;
  readonly state: 'ok' | 'retrying' | 'refused' | 'disabled';
  /** Log entries after its position. */
  readonly behind: number;
  /** HTTP status of the last attempt; null: no response, or no attempt. */
  readonly lastStatus: number | null;
  /** ISO 8601. */
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly offset: string;
}

/** @throws StoreUnavailableError */
export async function webhookStatusOf(
  store: Store,
  feed: Feed,
  webhook: Webhook,
  state: WebhookState,
): Promise<WebhookStatus> {
  const position = await positionOf(feed, state);
  const time = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());
  return {
    alias: webhook.alias,
    environment: webhook.environment.alias,
    url: webhook.url,
    state: statusOf(webhook, state),
    behind: await countChangesAfter(store, feed.scope, position),
    lastStatus: state.lastStatus ?? null,
    lastAttemptAt: time(state.lastAttemptAt),
    nextAttemptAt: time(state.nextAttemptAt),
    offset: feed.offsetOf(position),
  };
}

function statusOf(
  { secrets }: Webhook,
  { isDisabled, isRefused, failures = 0 }: WebhookState,
): WebhookStatus['state'] {
  if (isDisabled === true || secrets.length === 0) return 'disabled';
  if (isRefused === true) return 'refused';
  return failures > 0 ? 'retrying' : 'ok';
}

/**
 * The position of a webhook's next changes. A new webhook begins at the time when it was configured; one with an invalid offset
 * begins with a full copy.
 * @throws StoreUnavailableError
 */
export async function positionOf(feed: Feed, { offset, begunAt }: WebhookState): Promise<Position> {
  if (offset !== undefined) return feed.positionOf(offset) ?? (await feed.beginning());
  const { sequences } = await feed.end();
  return { sequences: sequences.map((sequence) => Math.min(sequence, begunAt)), copyFrom: null };
}
