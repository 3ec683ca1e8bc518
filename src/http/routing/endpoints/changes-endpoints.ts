/**
 * The changes interface (docs/reference/http.md "Changes"), and its counterpart for management keys
 * (docs/reference/management.md "Changes").
 */
import type { Json } from '../../../contract/json.ts';
import { longPollMs } from '../../../contract/limits.ts';
import { changesAnswerShape } from '../../../contract/shapes-read.ts';
import { eventStreamType } from '../../answer.ts';
import {
  type EndpointDefinition,
  inQuery,
  managedEnvironment,
  minVersion,
  plainHeader,
} from '../../route-definition.ts';

const changeExample: Json = {
  id: 'gid://Environment/e-1/Source/s-1/Entity/fr/View/country',
  alias: 'country',
  sourceGroup: 'geo',
  originId: 'fr',
  type: 'country',
  action: 'set',
  urls: ['/europe/france'],
  handles: [],
  redirects: [],
  left: { urls: ['/france'], handles: [], redirects: [] },
  tags: ['kq0S2bA7Yc0w'],
  version: 'v1-3~1f',
  at: '2026-05-01T12:00:00.000Z',
};

export const changesEndpoint: EndpointDefinition = {
  method: 'get',
  path: '/changes/v1',
  tag: 'changes',
  summary: 'Follow the changes of the environment',
  access: { kind: 'client', scope: 'changes' },
  problems: 'plain',
  parameters: [
    inQuery('since', 'An offset from an earlier response, or `now`; absent: every existing view'),
    inQuery(
      'live',
      `Waits up to ${longPollMs / 1000} s for a first change, or goes on as server-sent events`,
      { shape: { type: 'string', enum: ['long-poll', 'sse'] } },
    ),
    inQuery('expand', 'Adds where else each view is delivered, because other views refer to it', {
      shape: { type: 'string', enum: ['shown'] },
    }),
  ],
  headers: [
    minVersion,
    plainHeader('Accept', '`text/event-stream` means `live=sse`'),
    plainHeader('Last-Event-ID', 'Like `since`, and takes precedence over it'),
  ],
  answers: {
    200: {
      description: 'Up to 1,000 changes; with `live=sse` events `change` and `up-to-date`',
      shape: changesAnswerShape,
      alsoAs: [eventStreamType],
      example: { changes: [changeExample], offset: 'AbC', upToDate: true },
    },
  },
  problemStatuses: [401, 403, 410, 422, 429, 500, 503],
};

export const managementChangesEndpoint: EndpointDefinition = {
  method: 'get',
  path: '/management/v1/changes',
  tag: 'management',
  summary: 'Follow the changes of an environment',
  access: { kind: 'management', scope: 'read' },
  problems: 'management',
  parameters: [managedEnvironment, ...changesEndpoint.parameters],
  headers: [minVersion, ...changesEndpoint.headers.filter(({ prefixed }) => !prefixed)],
  answers: { 200: { ...changesEndpoint.answers[200], description: 'As for GET /changes/v1' } },
  problemStatuses: [401, 403, 404, 410, 422, 429, 500, 503],
};
