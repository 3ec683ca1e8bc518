/** Answers `tools/list` and `tools/call` with the handlers of the endpoints. */
import type { CallToolResult, Server } from '@modelcontextprotocol/server';
import type { ClientPrincipal, ManagementPrincipal } from '../../config/configuration.ts';
import { platformVersion } from '../../config/settings/platform-version.ts';
import { isJsonObject, type Json } from '../../contract/json.ts';
import { toolAnswersBytesMax } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import type { Answer } from '../answer.ts';
import type { Handler } from '../call.ts';
import type { RouteName } from '../route-definition.ts';
import { problemAnswer, problemOf } from '../routing/problem-answer.ts';
import { routeTable } from '../routing/route-table.ts';
import { callOf, type Tool, toolsOf } from './tools.ts';

const resultsTooLarge = `The previous results exceed ${toolAnswersBytesMax} bytes. Send the calls one by one`;

export class ToolServer {
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
