/** The webhooks of a tenant in the management interface (docs/reference/webhooks.md). */
import {
  webhookAnswerShape,
  webhookReplayShape,
  webhooksAnswerShape,
  webhookTestShape,
} from '../../../contract/shapes-management.ts';
import { inPath, plainHeader, type RouteDefinition } from '../../route-definition.ts';
import { problemStatuses, reading } from './management-endpoints.ts';

/** Shared by the endpoints that test, replay or enable a webhook. */
const webhook = {
  ...reading,
  method: 'post',
  access: { kind: 'management', scope: 'operate' },
  parameters: [inPath('alias', 'Alias of the webhook')],
} as const;

export const webhookEndpoints: readonly RouteDefinition[] = [
  {
    ...reading,
    name: 'managementWebhooks',
    path: '/management/v1/webhooks',
    summary: 'State of the webhooks of the tenant',
    parameters: [],
    answers: { 200: { description: 'All of them', shape: webhooksAnswerShape } },
  },
  {
    ...webhook,
    name: 'testWebhook',
    path: '/management/v1/webhooks/{alias}/test',
    summary: 'Send one test request without changes',
    headers: [plainHeader('traceparent', 'W3C Trace Context, passed on to the receiver')],
    answers: { 200: { description: 'The response of the receiver', shape: webhookTestShape } },
    problemStatuses: [...problemStatuses, 409, 502],
  },
  {
    ...webhook,
    name: 'replayWebhook',
    path: '/management/v1/webhooks/{alias}/replay',
    summary: 'Move the cursor of a webhook: the changes after it are sent',
    body: { shape: webhookReplayShape, example: { since: 'beginning' } },
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
    problemStatuses: [...problemStatuses, 408, 410, 413],
  },
  {
    ...webhook,
    name: 'enableWebhook',
    path: '/management/v1/webhooks/{alias}/enable',
    summary: 'Resume a disabled webhook where it was',
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
  },
];
