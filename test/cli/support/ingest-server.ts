import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { isJsonObject, type Json } from '../../../src/contract/json.ts';

/** What a request gets instead of a proper response. */
export type Disturbance = 'busy' | 'hangUp' | 'hangUpAfterAccepting' | 'internalError';

export interface IngestServer {
  readonly url: string;
  /** Entities in the order in which they were accepted. */
  readonly accepted: Json[];
  /** Accepted entities per originId, in order. */
  readonly history: Map<string, Json[]>;
  readonly requests: { contentLength: string | undefined; coding: string | undefined; entities: number }[];
  mostAtOnce: number;
  close(): Promise<void>;
}

export interface IngestServerOptions {
  readonly sourceKey?: string;
  /** Called once per request, with its index. */
  readonly disturb?: (request: number) => Disturbance | null;
  /** How long a request takes, by its index. */
  readonly delayMs?: (request: number) => number;
  readonly bodyBytesMax?: number;
}

/** A small HTTP server that follows docs/reference/http.md "Saving many entities" as far as an importer can see it. */
export async function startIngestServer(options: IngestServerOptions = {}): Promise<IngestServer> {
  const accepted: Json[] = [];
  const history = new Map<string, Json[]>();
  const requests: IngestServer['requests'] = [];
  let count = 0;
  let runSync = 0;

  const server = http.createServer(async (request, response) => {
    const number = count;
    count += 1;
    runSync += 1;
    state.mostAtOnce = Math.max(state.mostAtOnce, runSync);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      await new Promise((resolve) => setTimeout(resolve, options.delayMs?.(number) ?? 0));
      answer(request, response, body, number);
    } finally {
      runSync -= 1;
    }
  });

  function answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    body: Buffer,
    number: number,
  ): void {
    const send = (status: number, content: object, headers = {}) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify(content));
    if (request.method !== 'POST' || request.url !== '/ingest/v2') return void send(404, { status: 404 });
    const key = options.sourceKey ?? 'source-test';
    if (request.headers['x-api-key'] === 'no-rights') return void send(403, { status: 403 });
    if (request.headers['x-api-key'] !== key) return void send(401, { status: 401 });
    if (request.headers['content-length'] === undefined) return void send(411, { status: 411 });
    const disturbance = options.disturb?.(number) ?? null;
    if (disturbance === 'busy') return void send(503, { status: 503 }, { 'Retry-After': '0' });
    if (disturbance === 'internalError') return void response.writeHead(500).end('Internal error');
    if (disturbance === 'hangUp') return void response.destroy();
    if (body.length > (options.bodyBytesMax ?? Number.POSITIVE_INFINITY)) {
      return void send(413, { status: 413, message: 'The body is too large', errorCode: 's-1007' });
    }
    const entities = parsed(body);
    if (entities === null) return void send(422, { status: 422, message: 'The body is not JSON' });
    requests.push({
      contentLength: request.headers['content-length'],
      coding: request.headers['content-encoding'],
      entities: entities.length,
    });
    const result = accept(entities);
    if (disturbance === 'hangUpAfterAccepting') return void response.destroy();
    send(result.status, result);
  }

  function accept(entities: Json[]) {
    const result = {
      status: 200,
      changedSourceEntities: [] as string[],
      unchangedSourceEntities: [] as string[],
      errors: Object.create(null) as Record<string, string[]>,
    };
    entities.forEach((entity, index) => {
      const originId = isJsonObject(entity) ? entity.originId : null;
      if (!isJsonObject(entity) || typeof originId !== 'string') {
        result.errors[`entities[${index}]`] = ['originId is missing'];
        return;
      }
      if (entity.type === 'wrong') {
        result.errors[originId] = ['type is wrong', 'and again'];
        return;
      }
      const states = history.get(originId) ?? [];
      const isChanged = JSON.stringify(states.at(-1)) !== JSON.stringify(entity);
      (isChanged ? result.changedSourceEntities : result.unchangedSourceEntities).push(originId);
      if (isChanged) history.set(originId, [...states, entity]);
      accepted.push(entity);
    });
    const isAllInvalid = entities.length > 0 && Object.keys(result.errors).length === entities.length;
    return { ...result, status: isAllInvalid ? 422 : 200 };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const state: IngestServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    history,
    requests,
    mostAtOnce: 0,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return state;
}

function parsed(body: Buffer): Json[] | null {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
