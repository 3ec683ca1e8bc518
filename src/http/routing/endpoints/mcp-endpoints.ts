/** The Model Context Protocol (docs/reference/mcp.md). */
import type { RouteDefinition } from '../route-definition.ts';

const header = (name: string, description: string) => ({ name, prefixed: false, description });

export const mcpEndpoints: readonly RouteDefinition[] = [
  {
    name: 'mcp',
    method: 'post',
    path: '/mcp',
    tag: 'mcp',
    summary: 'Tools for language models: the Model Context Protocol over stateless streamable HTTP',
    access: { kind: 'reader' },
    problems: 'plain',
    parameters: [],
    headers: [
      header('MCP-Protocol-Version', 'The revision that the client speaks'),
      header('Mcp-Method', 'As `method` of the body, from revision 2026-07-28 on'),
      header('Mcp-Name', 'As `params.name` of the body, from revision 2026-07-28 on'),
    ],
    body: {
      shape: { type: 'object', additionalProperties: true },
      description: 'A JSON-RPC message of at most 1 MiB',
      example: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    },
    answers: {
      200: {
        description: 'A JSON-RPC response, as JSON or as server-sent events; the tools depend on the key',
        contentType: 'application/json',
      },
      400: {
        description: 'The message is not valid in the protocol; the body says why',
        contentType: 'application/json',
      },
      202: { description: 'A notification was accepted' },
    },
    problemStatuses: [401, 403, 408, 413, 415, 429, 500, 503],
  },
];
