/** The webhooks of a tenant in the management interface (docs/reference/webhooks.md). */
import {
  webhookAnswerShape,
  webhookReplayShape,
  webhooksAnswerShape,
  webhookTestShape,
} from '../../../contract/shapes-management.ts';
import type { RouteDefinition } from '../route-definition.ts';
import { problemStatuses, reading } from './management.ts';

/** What every endpoint that sets a webhook going has in common. */
const webhook = {
  ...reading,
  method: 'post',
  access: { kind: 'management', scope: 'operate' },
  parameters: [
    { name: 'alias', in: 'path', required: true, shape: { type: 'string' }, description: 'Of the webhook' },
  ],
} as const;

export const webhookEndpoints: readonly RouteDefinition[] = [
  {
    ...reading,
    name: 'managementWebhooks',
    path: '/management/v1/webhooks',
    summary: 'How the webhooks of the tenant stand',
    parameters: [],
    answers: { 200: { description: 'All of them', shape: webhooksAnswerShape } },
  },
  {
    ...webhook,
    name: 'testWebhook',
    path: '/management/v1/webhooks/{alias}/test',
    summary: 'Send a request that tells of nothing, once',
    headers: [
      { name: 'traceparent', prefixed: false, description: 'W3C Trace Context, passed on to the receiver' },
    ],
    answers: { 200: { description: 'What the receiver answered', shape: webhookTestShape } },
    problemStatuses: [...problemStatuses, 409, 502],
  },
  {
    ...webhook,
    name: 'replayWebhook',
    path: '/management/v1/webhooks/{alias}/replay',
    summary: 'Set the cursor of a webhook: what is behind it is sent',
    body: { shape: webhookReplayShape, example: { since: 'beginning' } },
    answers: { 200: { description: 'How it stands', shape: webhookAnswerShape } },
    problemStatuses: [...problemStatuses, 408, 410, 413],
  },
  {
    ...webhook,
    name: 'enableWebhook',
    path: '/management/v1/webhooks/{alias}/enable',
    summary: 'Carry on with a webhook that was disabled, where it was',
    answers: { 200: { description: 'How it stands', shape: webhookAnswerShape } },
  },
];
