/**
 * `POST /mcp`: the Model Context Protocol, stateless (docs/reference/mcp.md). Each request gets its own server and one JSON
 * response, because no tool is long-running.
 */

import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import type { ClientPrincipal, ManagementPrincipal } from '../../config/configuration.ts';
import { platformVersion } from '../../config/settings/platform-version.ts';
import { problems } from '../../contract/errors.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { smallBodyBytesMax, toolAnswersBytesMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { type Answer, jsonAnswer, jsonType } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { notJsonText, parseJson } from '../json-body.ts';
import { problemAnswer, problemOf } from '../routing/problem-answer.ts';
import { type RouteName, routeTable } from '../routing/route-table.ts';
import { callOf, type Tool, toolsOf } from './tools.ts';

/** @param handlers of the endpoints behind the tools */
export function mcp(handlers: Readonly<Record<Exclude<RouteName, 'mcp'>, Handler>>): Handler {
  return async (call) => {
    const body = await call.body.bytes(smallBodyBytesMax, problems.bodyTooLarge);
    if (parseJson(body) === undefined) return parseError(notJsonText(body));
    const tools = new ToolServer(readerOf(call), handlers);
    return await answerOf(await answered(requestOf(call, body), tools));
  };
}

/** As the protocol has it, but with the position of the error (JSON-RPC 2.0, section 5.1). */
function parseError(message: string): Answer {
  return jsonAnswer(400, { jsonrpc: '2.0', error: { code: -32_700, message }, id: null });
}

/** Handles a request of any revision of the protocol. @throws unexpected errors of handlers */
async function answered(request: Request, tools: ToolServer): Promise<Response> {
  // Loaded on demand: few fronts need the package, and loading it is slow.
  const library = await import('@modelcontextprotocol/server');
  const { isLegacyRequest, createMcpHandler, WebStandardStreamableHTTPServerTransport: Transport } = library;
  const response = (await isLegacyRequest(request))
    ? await answeredBefore2026(new Transport({ enableJsonResponse: true }))
    : await createMcpHandler(() => tools.server(library), { legacy: 'reject', maxSubscriptions: 0 }).fetch(
        request,
      );
  tools.throwBug();
  return response;

  async function answeredBefore2026(transport: InstanceType<typeof Transport>): Promise<Response> {
    await tools.server(library).connect(transport);
    return await transport.handleRequest(request);
  }
}

const forwarded = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

function requestOf(call: Call, body: Buffer<ArrayBuffer>): Request {
  // As in the other endpoints, a body is JSON whatever its Content-Type is.
  const headers = new Headers({
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  });
  for (const name of forwarded) {
    const value = call.header(name);
    if (value !== '') headers.set(name, value);
  }
  // The URL is arbitrary: the server only reads the message.
  return new Request('http://localhost/mcp', { method: 'POST', headers, body });
}

async function answerOf(response: Response): Promise<Answer> {
  const body = Buffer.from(await response.arrayBuffer());
  const contentType = body.length === 0 ? '' : (response.headers.get('content-type') ?? jsonType);
  return { status: response.status, body, contentType };
}

function readerOf({ principal }: Call): ClientPrincipal | ManagementPrincipal {
  assert(principal?.kind === 'client' || principal?.kind === 'management', 'the route has a reader');
  return principal;
}

const resultsTooLarge = `The previous results exceed ${toolAnswersBytesMax} bytes. Send the calls one by one`;

/** Answers `tools/list` and `tools/call` with the handlers of the endpoints. */
class ToolServer {
  readonly #principal: ClientPrincipal | ManagementPrincipal;
  readonly #handlers: Readonly<Partial<Record<RouteName, Handler>>>;
  /** One call at a time: a request may have many calls, and all results are in memory until the last call is done. */
  readonly #oneCall = new Semaphore(1);
  #answeredBytes = 0;
  #bug: { readonly error: unknown } | null = null;

  constructor(
    principal: ClientPrincipal | ManagementPrincipal,
    handlers: Readonly<Partial<Record<RouteName, Handler>>>,
  ) {
    this.#principal = principal;
    this.#handlers = handlers;
  }

  /** @param library the package, which is loaded on demand */
  server(library: typeof import('@modelcontextprotocol/server')): Server {
    const { Server, ProtocolError, ProtocolErrorCode } = library;
    const about = { name: 'millrace', version: platformVersion };
    const server = new Server(about, { capabilities: { tools: {} } });
    const tools = toolsOf(this.#principal);
    server.setRequestHandler('tools/list', () => ({
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema: { ...inputSchema, type: 'object' as const },
        annotations: { readOnlyHint: true },
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params }) => {
      const tool = tools.find(({ name }) => name === params.name);
      if (tool !== undefined) return await this.#result(tool, params.arguments ?? {});
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`);
    });
    return server;
  }

  /** Rethrows the unexpected error of a handler, if there was one, so that it is logged. */
  throwBug(): void {
    if (this.#bug !== null) throw this.#bug.error;
  }

  async #result(tool: Tool, given: unknown): Promise<CallToolResult> {
    const release = await this.#oneCall.acquire();
    try {
      if (this.#answeredBytes > toolAnswersBytesMax) return resultOf(resultsTooLarge, true);
      const { status, body } = await this.#answer(tool, given as Json);
      this.#answeredBytes += Buffer.byteLength(body);
      const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
      return resultOf(text, status >= 400);
    } finally {
      release();
    }
  }

  /** The response of the endpoint, also an error. */
  async #answer({ endpoint, requestOf }: Tool, given: Json): Promise<Answer> {
    const handler = this.#handlers[endpoint];
    const definition = routeTable.find(({ name }) => name === endpoint);
    assert(handler !== undefined && definition !== undefined, `there is an endpoint ${endpoint}`);
    try {
      return await handler(callOf(this.#principal, requestOf(isJsonObject(given) ? given : {})));
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status === 500) this.#bug = { error };
      return problemAnswer(definition.problems, problem);
    }
  }
}

function resultOf(text: string, isError: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isError && { isError }) };
}
