/** Lists, tests, replays and enables webhooks (docs/reference/management.md "Webhooks"). */

import type { Webhook } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { smallBodyBytesMax } from '../../contract/limits.ts';
import type { WebhookAnswer, WebhooksAnswer, WebhookTestAnswer } from '../../contract/shapes-management.ts';
import type { Feed } from '../../feed/feed.ts';
import { OffsetGoneError } from '../../feed/log-page.ts';
import { isOffset, type Position } from '../../feed/offset.ts';
import { quote } from '../../lib/message-text.ts';
import {
  changeWebhookState,
  readWebhookStates,
  type StoredState,
  type WebhookState,
  webhookField,
} from '../../store/webhooks/webhook-states.ts';
import { signedPost, testMessage } from '../../webhooks/message.ts';
import { AddressRefusedError, NoResponseError, post } from '../../webhooks/post.ts';
import { type WebhookStatus, webhookStatusOf } from '../../webhooks/webhook-status.ts';
import { jsonAnswer } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { bodyJson } from '../json-body.ts';
import { validTraceparent } from '../request-record.ts';
import type { Services } from '../services.ts';
import { pathText, throwNothing } from './request-values.ts';

export function managementWebhooks(services: Services): Handler {
  return async (call) => {
    const { alias, webhooks } = call.manager.tenant;
    const states = await readWebhookStates(services.store);
    const statuses = webhooks.flatMap((webhook) => {
      const stored = states.get(webhookField(alias, webhook));
      return stored === undefined ? [] : [shown(services, call, webhook, stored.state)];
    });
    return jsonAnswer<WebhooksAnswer>(200, { webhooks: await Promise.all(statuses) });
  };
}

/** Sends one test request without changes. */
export function testWebhook({ webhookGuard }: Services): Handler {
  return async (call) => {
    const webhook = requestedWebhook(call);
    if (webhook.secrets.length === 0) throw new ProblemError(problems.webhookWithoutSecret);
    const startMs = performance.now();
    const now = new Date();
    try {
      const message = signedPost(webhook, testMessage(now.getTime()), now, traceOf(call));
      const { status } = await post(message, webhookGuard, new AbortController().signal);
      return jsonAnswer<WebhookTestAnswer>(200, {
        status,
        milliseconds: Math.round(performance.now() - startMs),
      });
    } catch (error) {
      if (!(error instanceof AddressRefusedError || error instanceof NoResponseError)) throw error;
      throw new ProblemError(problems.webhookUnanswered(error.message));
    }
  };
}

/** Continues the trace of the request at the receiver. */
function traceOf(call: Call): Record<string, string> {
  const traceparent = validTraceparent(call.header('traceparent'));
  return traceparent === null ? {} : { traceparent };
}

/** Sets the cursor of a webhook. */
export function replayWebhook(services: Services): Handler {
  return async (call) => {
    const { bodyTooLarge, bodyNotJson } = problems;
    const body = await bodyJson(call.body, smallBodyBytesMax, bodyTooLarge, bodyNotJson);
    const webhook = requestedWebhook(call);
    const feed = feedOf(services, call, webhook);
    const position = await startOf(feed, services.store.partitions.count, body);
    const offset = feed.offsetOf(position);
    return await changed(services, call, webhook, ({ until, ...state }) => ({ ...tried(state), offset }));
  };
}

/** Enables a webhook that its receiver has disabled. It continues where it stopped. */
export function enableWebhook(services: Services): Handler {
  return async (call) => {
    const webhook = requestedWebhook(call);
    return await changed(services, call, webhook, ({ isDisabled, ...state }) => tried(state));
  };
}

/** Resets the retries, so that it is tried immediately. */
function tried({ failures, isRefused, nextAttemptAt, ...state }: WebhookState): WebhookState {
  return state;
}

async function changed(
  services: Services,
  call: Call,
  webhook: Webhook,
  change: (state: WebhookState) => WebhookState,
) {
  const field = webhookField(call.manager.tenant.alias, webhook);
  const stored: StoredState | null = await changeWebhookState(services.store, field, change);
  if (stored === null) return throwNothing(`There is no webhook ${quote(webhook.alias)}`);
  return jsonAnswer<WebhookAnswer>(200, await shown(services, call, webhook, stored.state));
}

async function startOf(feed: Feed, partitions: number, body: Json): Promise<Position> {
  const since = isJsonObject(body) ? getOwn(body, 'since') : undefined;
  try {
    if (since === 'beginning') return await feed.beginning();
    if (since === 'now') return await feed.end();
    if (typeof since !== 'string' || !isOffset(partitions, since)) {
      throw new ProblemError(problems.parameterInvalid('since', 'must be an offset, "beginning" or "now"'));
    }
    const position = feed.positionOf(since);
    if (position === null) throw new ProblemError(problems.offsetGone);
    await feed.check(position);
    return position;
  } catch (error) {
    if (error instanceof OffsetGoneError) throw new ProblemError(problems.offsetGone);
    throw error;
  }
}

function requestedWebhook(call: Call): Webhook {
  const alias = pathText(call, 0, 'alias');
  const found = call.manager.tenant.webhooks.find((webhook) => webhook.alias === alias);
  return found ?? throwNothing(`There is no webhook ${quote(alias)}`);
}

function feedOf({ feeds }: Services, call: Call, { environment }: Webhook): Feed {
  return feeds.of({ tenant: call.manager.tenant.alias, environmentId: environment.id }).feed;
}

function shown(
  services: Services,
  call: Call,
  webhook: Webhook,
  state: WebhookState,
): Promise<WebhookStatus> {
  return webhookStatusOf(services.store, feedOf(services, call, webhook), webhook, state);
}
