/** An HTTP client that checks every answer against the OpenAPI document that the front serves. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { isJsonObject, type Json, type JsonObject } from '../../../src/contract/json.ts';
import { neverMs } from '../../support/until.ts';
import { shapeErrors } from './shape-check.ts';

export interface RequestOptions {
  readonly key?: string;
  /** Sent as JSON, unless it is a string or bytes. */
  readonly body?: Json | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Version that the response must show. The request is retried until it does, as clients do. */
  readonly version?: string;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly json: any;
}

/** The front did not answer: it is not running, or the connection broke. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';

  /** False if nothing listened, so that the request was certainly not accepted. */
  readonly mayBeTaken: boolean;
  /** The connection was reused, and may have been closed before the request arrived. */
  readonly onIdleConnection: boolean;

  constructor(message: string, facts: { readonly mayBeTaken: boolean; readonly onIdleConnection: boolean }) {
    super(message);
    this.mayBeTaken = facts.mayBeTaken;
    this.onIdleConnection = facts.onIdleConnection;
  }
}

const stackPattern = /\bat .{1,200}\.(ts|js|mjs):\d+|node_modules|file:\/\//;

export class Client {
  readonly #agent: Agent;
  #document: Promise<JsonObject> | null = null;

  constructor(
    private readonly baseUrl: () => string,
    private readonly secrets: readonly string[],
    connections: number,
  ) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** @throws NoResponseError; Error if the answer is not as documented */
  async call(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    this.#document ??= this.#exchange('GET', '/openapi.json', {}).then(({ json }) => json as JsonObject);
    const document = await this.#document.catch((error: unknown) => {
      this.#document = null;
      throw error;
    });
    const { version, headers, ...others } = options;
    const shown = version === undefined ? headers : { ...headers, 'X-Service-Min-Version': version };
    for (;;) {
      const answer = await this.#exchange(method, path, { ...others, ...(shown && { headers: shown }) });
      this.#check(document, method, path, answer);
      if (version === undefined || answer.json?.code !== 'versionNotReached') return answer;
    }
  }

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.call('GET', path, options);
  }

  post(path: string, body: Json | Buffer, options: RequestOptions = {}): Promise<Answer> {
    return this.call('POST', path, { ...options, body });
  }

  delete(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.call('DELETE', path, options);
  }

  /**
   * Fronts close idle connections. A request that meets this is sent once more, on a new connection, because others may have been
   * closed too without this process knowing yet.
   */
  async #exchange(method: string, path: string, options: RequestOptions): Promise<Answer> {
    try {
      return await this.#attempt(method, path, options, this.#agent);
    } catch (error) {
      if (!(error instanceof NoResponseError) || !error.onIdleConnection) throw error;
    }
    try {
      return await this.#attempt(method, path, options, false);
    } catch (error) {
      if (!(error instanceof NoResponseError)) throw error;
      throw new NoResponseError(error.message, { mayBeTaken: true, onIdleConnection: false });
    }
  }

  #attempt(method: string, path: string, options: RequestOptions, agent: Agent | false): Promise<Answer> {
    const { key, body, headers, timeoutMs = neverMs } = options;
    const bytes = body === undefined ? null : isBytes(body) ? body : Buffer.from(bodyText(body));
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) =>
        reject(
          new NoResponseError(`${method} ${path.slice(0, 200)}: ${error.message}`, {
            mayBeTaken: error.code !== 'ECONNREFUSED',
            onIdleConnection: sent.reusedSocket && error.code === 'ECONNRESET',
          }),
        );
      const sent = request(
        new URL(path, this.baseUrl()),
        {
          method,
          agent,
          headers: {
            ...(key === undefined ? {} : { 'X-Api-Key': key }),
            ...(bytes === null
              ? {}
              : { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
            ...headers,
          },
        },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('error', fail);
          response.on('aborted', () => fail(new Error('the response was truncated')));
          response.on('end', () => {
            const text = decoded(response, Buffer.concat(pieces)).toString('utf8');
            const { statusCode = 0, headers: answered } = response;
            resolve({ status: statusCode, headers: answered, text, json: jsonOf(text) });
          });
        },
      );
      sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      sent.on('error', fail);
      sent.end(bytes ?? undefined);
    });
  }

  #check(document: JsonObject, method: string, path: string, answer: Answer): void {
    const { status, text, json } = answer;
    const about = `${method} ${path.slice(0, 200)} -> ${status} ${text.slice(0, 500)}`;
    for (const secret of this.secrets) {
      if (text.includes(secret)) throw new Error(`the answer shows ${JSON.stringify(secret)}: ${about}`);
    }
    if (status >= 400 && stackPattern.test(text)) throw new Error(`the answer shows a stack: ${about}`);
    if (status === 503 && !path.startsWith('/health/') && answer.headers['retry-after'] === undefined) {
      throw new Error(`a 503 without Retry-After: ${about}`);
    }
    const operation = operationOf(document, method, new URL(path, 'http://front').pathname);
    if (operation === null) return;
    const response = getObject(operation, 'responses', String(status));
    if (response === null) throw new Error(`the status is not documented: ${about}`);
    const content = getObject(response, 'content');
    if (content === null) return;
    const type = typeOf(answer.headers['content-type'] ?? '');
    const listed = Object.keys(content).find((name) => typeOf(name) === type);
    if (listed === undefined) throw new Error(`the content type ${type} is not documented: ${about}`);
    const schema = getObject(content, 'application/json', 'schema');
    if (schema === null || type !== 'application/json') return;
    if (json === undefined) throw new Error(`the body is no JSON: ${about}`);
    const errors = shapeErrors(document, schema, json as Json);
    if (errors.length > 0) throw new Error(`${errors.slice(0, 5).join('; ')}: ${about}`);
  }
}

/** The operation that serves a path; one with fewer parameters takes precedence, as in the front. */
function operationOf(document: JsonObject, method: string, pathname: string): JsonObject | null {
  const paths = getObject(document, 'paths') ?? {};
  const matching = Object.keys(paths)
    .filter((template) => matches(template, pathname))
    .sort((a, b) => a.split('{').length - b.split('{').length);
  for (const template of matching) {
    const operation = getObject(paths, template, method.toLowerCase());
    if (operation !== null) return operation;
  }
  return null;
}

/** Without parameters. */
function typeOf(contentType: string): string {
  return contentType.split(';', 1)[0] ?? '';
}

function matches(template: string, pathname: string): boolean {
  const pattern = template.split('/').map((part) => (part.startsWith('{') ? null : part));
  const parts = pathname.split('/');
  if (parts.length !== pattern.length) return false;
  return pattern.every((part, index) => (part === null ? parts[index] !== '' : part === parts[index]));
}

function getObject(from: JsonObject, ...names: string[]): JsonObject | null {
  let at: Json = from;
  for (const name of names) {
    if (!isJsonObject(at)) return null;
    at = at[name] ?? null;
  }
  return isJsonObject(at) ? at : null;
}

function isBytes(body: Json | Buffer): body is Buffer {
  return Buffer.isBuffer(body);
}

function bodyText(body: Json): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function decoded(response: IncomingMessage, bytes: Buffer): Buffer {
  const coding = response.headers['content-encoding'];
  if (coding === 'br') return brotliDecompressSync(bytes);
  return coding === 'gzip' ? gunzipSync(bytes) : bytes;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
