/**
 * `POST /mcp`: the Model Context Protocol, stateless (docs/reference/mcp.md). Each request gets its own server and one JSON
 * response, because no tool is long-running.
 */
import type { ClientPrincipal, ManagementPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { smallBodyBytesMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Answer, jsonAnswer, jsonType } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { notJsonText, parseJson } from '../json-body.ts';
import type { RouteName } from '../route-definition.ts';
import { ToolServer } from './tool-server.ts';

const tooLarge = new ProblemError(problems.bodyTooLarge);

/** @param handlers of the endpoints behind the tools */
export function mcp(handlers: Readonly<Record<Exclude<RouteName, 'mcp'>, Handler>>): Handler {
  return async (call) => {
    const body = await call.body.bytes(smallBodyBytesMax, tooLarge);
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
