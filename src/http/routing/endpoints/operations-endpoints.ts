/** Health, metrics and the document (docs/reference/http.md "Health, metrics and the OpenAPI document"). */
import { liveShape, notReadyShape, readyShape } from '../../../contract/shapes-read.ts';
import type { RouteDefinition } from '../route-definition.ts';

export const operationsEndpoints: readonly RouteDefinition[] = [
  {
    name: 'live',
    method: 'get',
    path: '/health/live',
    tag: 'operations',
    summary: '200 while the process runs',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: {
      200: { description: 'The process runs', shape: liveShape, example: { status: 200, version: '1.0.0' } },
    },
    problemStatuses: [429],
  },
  {
    name: 'ready',
    method: 'get',
    path: '/health/ready',
    tag: 'operations',
    summary: '200 if this front can serve requests',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: {
      200: {
        description: 'Ready; degraded lists problems',
        shape: readyShape,
        example: { status: 200, waitingFor: [] },
      },
      503: {
        description: 'Not ready; waitingFor says why',
        shape: notReadyShape,
        example: {
          status: 503,
          waitingFor: ['an owner of partition 3'],
          code: 'notReady',
          requestId: 'gJ0cTq2-1',
        },
      },
    },
    problemStatuses: [429],
  },
  {
    name: 'metrics',
    method: 'get',
    path: '/metrics',
    tag: 'operations',
    summary: 'Prometheus text',
    access: { kind: 'metrics' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: {
      200: { description: 'Prometheus text', contentType: 'text/plain; version=0.0.4; charset=utf-8' },
    },
    problemStatuses: [401, 429, 500, 503],
  },
  {
    name: 'openapi',
    method: 'get',
    path: '/openapi.json',
    tag: 'operations',
    summary: 'This document',
    access: { kind: 'open' },
    problems: 'plain',
    parameters: [],
    headers: [],
    answers: { 200: { description: 'OpenAPI 3.1', shape: { type: 'object', additionalProperties: true } } },
    problemStatuses: [429, 503],
  },
];
