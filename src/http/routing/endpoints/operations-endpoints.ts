/**
 * Health, metrics and the OpenAPI document (docs/reference/http.md "Health, metrics and the OpenAPI document"), the Model
 * Context Protocol, and the console.
 */
import {
  liveShape,
  mcpAnswerShape,
  mcpProblemShape,
  notReadyShape,
  readyShape,
} from '../../../contract/shapes-read.ts';
import { htmlType, scriptType, styleType, svgType } from '../../answer.ts';
import { type Endpoints, inPath, plainHeader } from '../../route-definition.ts';

export const operationsEndpoints = {
  live: {
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
  ready: {
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
  metrics: {
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
  openapi: {
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
} satisfies Endpoints;

/** The Model Context Protocol (docs/reference/mcp.md). */
export const mcpEndpoints = {
  mcp: {
    method: 'post',
    path: '/mcp',
    tag: 'mcp',
    summary: 'Tools for language models: the Model Context Protocol over stateless streamable HTTP',
    access: { kind: 'reader' },
    problems: 'plain',
    parameters: [],
    headers: [
      plainHeader('MCP-Protocol-Version', 'The revision that the client speaks'),
      plainHeader('Mcp-Method', 'As `method` of the body, from revision 2026-07-28 on'),
      plainHeader('Mcp-Name', 'As `params.name` of the body, from revision 2026-07-28 on'),
    ],
    body: {
      shape: { type: 'object', additionalProperties: true },
      description: 'A JSON-RPC message of at most 1 MiB',
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
    answers: {
      200: {
        description: 'A JSON-RPC response, or a list of them for a batch; the tools depend on the key',
        shape: mcpAnswerShape,
      },
      400: {
        description:
          'The message is not valid in the protocol, or a header was sent twice; the body says why',
        shape: mcpProblemShape,
      },
      202: { description: 'A notification was accepted' },
    },
    problemStatuses: [401, 403, 408, 413, 415, 429, 500, 503],
  },
} satisfies Endpoints;

const consoleRoute = {
  method: 'get',
  tag: 'console',
  access: { kind: 'open' },
  problems: 'plain',
  headers: [plainHeader('Accept-Encoding', 'br and gzip are supported')],
  problemStatuses: [404, 429, 500],
} as const;

/** The console (docs/guide/console.md): a page and its files, which need no key. */
export const consoleEndpoints = {
  console: {
    ...consoleRoute,
    path: '/console',
    summary: 'The console: a page for people who run a tenant',
    parameters: [],
    answers: { 200: { description: 'HTML', contentType: htmlType } },
  },
  consoleView: {
    ...consoleRoute,
    path: '/console/{view}',
    takesSlashes: true,
    summary: 'A view of the console, or one of its files (`assets/…`)',
    parameters: [inPath('view', 'Can contain slashes')],
    answers: {
      200: {
        description: 'HTML; for a file, the type of its name',
        contentType: htmlType,
        alsoAs: [scriptType, styleType, svgType],
      },
    },
  },
} satisfies Endpoints;
