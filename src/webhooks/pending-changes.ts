/** The next changes of an environment that a webhook receives. */
import type { Webhook } from '../config/configuration.ts';
import { webhookBatchSizeMax } from '../contract/limits.ts';
import type { Feed, FeedChange } from '../feed/feed.ts';
import type { Position } from '../feed/offset.ts';
import type { SentChange } from './message.ts';

/** A change, and the position of the webhook after it. */
export interface PendingChange {
  readonly change: SentChange;
  readonly position: Position;
}

export interface PendingChanges {
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
export async function pendingChanges(
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
