/** The webhooks of a tenant in the management interface (docs/reference/webhooks.md). */
import {
  webhookAnswerShape,
  webhookReplayShape,
  webhooksAnswerShape,
  webhookTestShape,
} from '../../../contract/shapes-management.ts';
import { type Endpoints, inPath, plainHeader } from '../../route-definition.ts';
import { problemStatuses, reading } from './management-endpoints.ts';

/** Shared by the endpoints that test, replay or enable a webhook. */
const webhook = {
  ...reading,
  method: 'post',
  access: { kind: 'management', scope: 'operate' },
  parameters: [inPath('alias', 'Alias of the webhook')],
} as const;

export const webhookEndpoints = {
  managementWebhooks: {
    ...reading,
    path: '/management/v1/webhooks',
    summary: 'State of the webhooks of the tenant',
    parameters: [],
    answers: { 200: { description: 'All of them', shape: webhooksAnswerShape } },
  },
  testWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/test',
    summary: 'Send one test request without changes',
    headers: [plainHeader('traceparent', 'W3C Trace Context, passed on to the receiver')],
    answers: { 200: { description: 'The response of the receiver', shape: webhookTestShape } },
    problemStatuses: [...problemStatuses, 409, 502],
  },
  replayWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/replay',
    summary: 'Move the cursor of a webhook: the changes after it are sent',
    body: { shape: webhookReplayShape, example: { since: 'beginning' } },
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
    problemStatuses: [...problemStatuses, 408, 410, 413],
  },
  enableWebhook: {
    ...webhook,
    path: '/management/v1/webhooks/{alias}/enable',
    summary: 'Resume a disabled webhook where it was',
    answers: { 200: { description: 'Its state', shape: webhookAnswerShape } },
  },
} satisfies Endpoints;
