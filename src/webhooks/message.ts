/** Requests to receivers: bodies in both formats, and the headers of Standard Webhooks (standardwebhooks.com). */
import { createHash, randomUUID } from 'node:crypto';
import { Webhook as Signature } from 'standardwebhooks';
import type { Webhook } from '../config/configuration.ts';
import type { Json } from '../contract/json.ts';
import type { Change } from '../feed/feed.ts';
import type { ShownOn } from '../feed/shown-on.ts';
import type { Post } from './post.ts';

/** A change as a webhook reports it. */
export interface SentChange extends Change, Partial<ShownOn> {
  /** Options that the schema gives this destination. */
  readonly options?: Json;
}

export interface Message {
  /** The same in every attempt. */
  readonly id: string;
  readonly body: string;
}

/** The request that reports changes. @param from the webhook, and its offset before the changes */
export function changesMessage(
  { format }: Webhook,
  from: readonly string[],
  changes: readonly SentChange[],
  publicUrl: string,
): Message {
  const [first] = changes;
  const isHosted = format === 'enterspeed' && first !== undefined;
  const body = isHosted ? hostedBody(first, publicUrl) : standardBody(changes);
  return { id: messageId(from, changes), body: JSON.stringify(body) };
}

/** Maximum number of changes in a request. */
export function requestSize({ format, batch }: Webhook): number {
  return format === 'enterspeed' ? 1 : batch.size;
}

/**
 * The same for the same changes after the same position, so that a receiver can detect duplicates. It excludes versions and the
 * views that show a view, which may differ at every read.
 */
function messageId(place: readonly string[], changes: readonly SentChange[]): string {
  const stable = changes.map(({ version, shownOn, shownOnMore, ...change }) => change);
  return `msg_${createHash('sha256')
    .update(JSON.stringify([place, stable]))
    .digest('base64url')
    .slice(0, 27)}`;
}

function standardBody(changes: readonly SentChange[]): object {
  const times = changes.map(({ at }) => at).sort();
  return { type: 'views.changed', timestamp: times.at(-1), data: { changes } };
}

/** The payload of the hosted service. */
function hostedBody({ id, originId, alias, action }: SentChange, publicUrl: string): object {
  const about = { Id: id, OriginId: originId, Type: alias };
  if (action === 'removed') return { ...about, Action: 'Remove' };
  return { ...about, Action: 'Deploy', Url: `${publicUrl}/v2?id=${id}` };
}

/** A test message without changes. */
export function testMessage(nowMs: number): Message {
  const body = JSON.stringify({ type: 'test', timestamp: new Date(nowMs).toISOString(), data: {} });
  return { id: messageId(['test', randomUUID()], []), body };
}

/** A request with a signature for each secret. @param trace headers that link it to the request that caused it */
export function signedPost(
  webhook: Webhook,
  { id, body }: Message,
  now: Date,
  trace: Readonly<Record<string, string>> = {},
): Post {
  const { url, headers, secrets, format, alias } = webhook;
  const signatures = secrets.map((secret) => new Signature(secret).sign(id, now, body));
  return {
    url,
    body,
    headers: {
      'User-Agent': 'Millrace',
      ...(format === 'enterspeed' ? { 'X-Enterspeed-Webhook-Name': alias } : {}),
      ...Object.fromEntries(headers),
      ...trace,
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': signatures.join(' '),
    },
  };
}
