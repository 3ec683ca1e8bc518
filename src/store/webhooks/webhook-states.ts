/**
 * The state of each webhook: its cursor on the change log, and its last attempt. An entry exists from the activation of a
 * configuration with the webhook until the activation of one without it.
 *
 * Webhooks pass on the `traceparent` of recent saves and deletes. Losing one only breaks a trace.
 */
import { traceKeptSeconds, tracesKeptMax } from '../../contract/limits.ts';
import { keys, platformTag } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';

const replaceScript = new Script<0 | 1>('webhooks/replace', 1);

export interface WebhookState {
  /** When it became part of the configuration, in microseconds since 1970. */
  readonly begunAt: number;
  /** Offset after the last sent batch; absent: the position of the log at `begunAt`. */
  readonly offset?: string;
  /** Offset after the batch that is being sent; absent: none. */
  readonly until?: string;
  /** Job run that sends; absent: none so far. */
  readonly sender?: string;
  readonly isDisabled?: true;
  /** The last address was refused. */
  readonly isRefused?: true;
  /** Failed attempts of the batch; absent: none. */
  readonly failures?: number;
  /** When its failures were last logged, in milliseconds since 1970; absent: not since it last succeeded. */
  readonly warnedAt?: number;
  /** HTTP status of the last attempt; absent: no response. */
  readonly lastStatus?: number;
  /** Milliseconds since 1970. */
  readonly lastAttemptAt?: number;
  /** Earliest time of the next attempt, in milliseconds since 1970; absent: as soon as there is something to send. */
  readonly nextAttemptAt?: number;
}

/** The field of a webhook. With another environment, it counts as another webhook. */
export function webhookField(
  tenant: string,
  { alias, environment }: { readonly alias: string; readonly environment: { readonly id: string } },
): string {
  return `${tenant}|${alias}|${environment.id}`;
}

/** A state with its stored text, for compare-and-set. */
export interface StoredState {
  readonly field: string;
  readonly text: string;
  readonly state: WebhookState;
}

/** All entries by their fields. @throws StoreUnavailableError */
export async function readWebhookStates(store: Store): Promise<ReadonlyMap<string, StoredState>> {
  const stored = await answerOf(store.client.hgetall(keys.webhooks));
  return new Map(Object.entries(stored).map(([field, text]) => [field, parsedState(field, text)]));
}

/** Null if the configuration does not have it. @throws StoreUnavailableError */
export async function readWebhookState(store: Store, field: string): Promise<StoredState | null> {
  const text = await answerOf(store.client.hget(keys.webhooks, field));
  return text === null ? null : parsedState(field, text);
}

function parsedState(field: string, text: string): StoredState {
  return { field, text, state: JSON.parse(text) as WebhookState };
}

/** Null if the entry has changed meanwhile. @throws StoreUnavailableError */
export async function replaceWebhookState(
  store: Store,
  { field, text }: StoredState,
  state: WebhookState,
): Promise<StoredState | null> {
  const next = JSON.stringify(state);
  if (next === text) return { field, text, state };
  const isReplaced = await surviving(store.replication, [platformTag], () =>
    replaceScript.run(store.client, [keys.webhooks], [field, text, next]),
  );
  return isReplaced === 1 ? { field, text: next, state } : null;
}

/** Changes the current entry. Null if the configuration does not have the webhook. @throws StoreUnavailableError */
export async function changeWebhookState(
  store: Store,
  field: string,
  change: (state: WebhookState) => WebhookState,
): Promise<StoredState | null> {
  for (;;) {
    const stored = await readWebhookState(store, field);
    if (stored === null) return null;
    const replaced = await replaceWebhookState(store, stored, change(stored.state));
    if (replaced !== null) return replaced;
  }
}

const recordTracesScript = new Script<Buffer>('webhooks/record-traces', 1);

/**
 * @param entityIds from `formatEntityId`
 * @throws StoreUnavailableError
 */
export async function recordTraces(
  store: Store,
  tenant: string,
  entityIds: readonly string[],
  traceparent: string,
): Promise<void> {
  const recorded = `${traceparent} ${Date.now()}`;
  await recordTracesScript.run(
    store.client,
    [keys.requestTraces(tenant)],
    [recorded, tracesKeptMax, traceKeptSeconds, ...entityIds],
  );
}

/** The trace of the last entity that has one; null if none has. @throws StoreUnavailableError */
export async function lastTrace(
  store: Store,
  tenant: string,
  entityIds: readonly string[],
): Promise<string | null> {
  if (entityIds.length === 0) return null;
  const recorded = await answerOf(store.client.hmget(keys.requestTraces(tenant), ...entityIds));
  const [traceparent, atMs] = recorded.findLast((one) => one !== null)?.split(' ') ?? [];
  const isRecent = Date.now() - Number(atMs) < traceKeptSeconds * 1000;
  return traceparent !== undefined && isRecent ? traceparent : null;
}
