import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { reasonOf } from '../../lib/message-text.ts';
import type { Trust } from '../platform/own-front.ts';

const compress = promisify(gzip);

/** The headers and bytes of a request body. */
interface PackedBody {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
}

/** Hosts on this machine (RFC 6761, section 6.3), for which compression would cost more than it saves. */
const ownHost = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Compresses bodies for other machines with gzip, off the main thread. */
async function packedFor({ hostname }: URL, body: Buffer): Promise<PackedBody> {
  if (ownHost.test(hostname)) return { bytes: body, headers: { 'Content-Length': body.length } };
  const bytes = await compress(body);
  return { bytes, headers: { 'Content-Length': bytes.length, 'Content-Encoding': 'gzip' } };
}

/** A response of the platform. */
export interface BulkAnswer {
  readonly status: number;
  readonly body: string;
  /** Version token of a write. */
  readonly version?: string | undefined;
}

export interface BulkClientOptions {
  /** Address of the platform, such as `http://127.0.0.1:4000`. */
  readonly baseUrl: string;
  readonly trust?: Trust;
  readonly sourceKey: string;
  readonly connections: number;
  /** How long a request is retried while the platform is unavailable or busy. */
  readonly retryTotalMs: number;
  readonly signal: AbortSignal;
  /** Called once with a message if the platform does not respond, to explain the wait. */
  readonly onSilence?: (line: string) => void;
}

/** The platform was unavailable or busy for the whole retry time. */
export class PlatformUnavailableError extends Error {}

const backOffFirstMs = 200;
const backOffMaxMs = 10_000;
/** Idle timeout of a connection. The platform responds far sooner. */
const idleTimeoutMs = 60_000;
const answerBytesMax = 64 * 1024 * 1024;
/** Maximum number of attempts for a request with an internal error, which may be permanent. */
const internalErrorTriesMax = 4;
const busyStatuses = new Set([429, 502, 503, 504]);

/** Sends bulk requests over persistent connections, and retries temporary failures. */
export class BulkClient {
  readonly #endpoint: URL;
  readonly #agent: http.Agent;
  #isSilenceReported = false;

  constructor(private readonly options: BulkClientOptions) {
    this.#endpoint = new URL(`${options.baseUrl.replace(/\/+$/, '')}/ingest/v2`);
    const settings = { keepAlive: true, maxSockets: options.connections };
    this.#agent = this.#isSecure()
      ? new https.Agent({ ...settings, ...options.trust })
      : new http.Agent(settings);
  }

  /** Sends a bulk save and waits for the response. @throws PlatformUnavailableError; the reason with which `signal` was aborted */
  async send(body: Buffer): Promise<BulkAnswer> {
    return await this.#exchange({ method: 'POST', ...(await packedFor(this.#endpoint, body)) });
  }

  /** As `send`, for a bulk delete. */
  async remove(originIds: readonly string[]): Promise<BulkAnswer> {
    const body = Buffer.from(JSON.stringify({ originIds }));
    return await this.#exchange({ method: 'DELETE', ...(await packedFor(this.#endpoint, body)) });
  }

  /**
   * As `send`, for a page of the originIds of the source.
   * @param query with its `?`
   * @param minVersion null for any version
   */
  async list(query: string, minVersion: string | null): Promise<BulkAnswer> {
    const headers = minVersion === null ? {} : { 'X-Service-Min-Version': minVersion };
    return await this.#exchange({ method: 'GET', path: `/ingest/entities${query}`, bytes: null, headers });
  }

  async #exchange(call: BulkRequest): Promise<BulkAnswer> {
    const startedMs = performance.now();
    for (let tries = 1; ; tries += 1) {
      const attempt = await this.#attempt(call);
      if (attempt.retryAfterMs === null) return attempt.answer;
      if (attempt.answer === null) this.#reportSilence(attempt.reason);
      if (attempt.answer !== null && attempt.answer.status === 500 && tries >= internalErrorTriesMax) {
        return attempt.answer;
      }
      const waitMs = Math.max(attempt.retryAfterMs, backOffMs(tries));
      if (performance.now() - startedMs + waitMs > this.options.retryTotalMs) {
        throw new PlatformUnavailableError(
          `${this.#endpoint.origin} did not accept a request for ${Math.round(this.options.retryTotalMs / 1000)} s ` +
            `(last: ${attempt.reason}). Check --url, and run the same command again later.`,
        );
      }
      await sleep(waitMs, undefined, { signal: this.options.signal });
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #reportSilence(reason: string): void {
    if (this.#isSilenceReported) return;
    this.#isSilenceReported = true;
    const seconds = Math.round(this.options.retryTotalMs / 1000);
    this.options.onSilence?.(
      `${this.#endpoint.origin} does not respond (${reason}). Retrying for up to ${seconds} s`,
    );
  }

  async #attempt(call: BulkRequest): Promise<Attempt> {
    let answer: HttpAnswer;
    try {
      answer = await this.#request(call);
    } catch (error) {
      this.options.signal.throwIfAborted();
      return {
        answer: null,
        retryAfterMs: 0,
        reason: reasonOf(error),
      };
    }
    if (!busyStatuses.has(answer.status) && answer.status !== 500) return { answer, retryAfterMs: null };
    return { answer, retryAfterMs: readRetryAfterMs(answer.retryAfter), reason: `status ${answer.status}` };
  }

  #request({ method, path, bytes, headers }: BulkRequest): Promise<HttpAnswer> {
    const { sourceKey, signal, baseUrl } = this.options;
    const url = path === undefined ? this.#endpoint : new URL(baseUrl.replace(/\/+$/, '') + path);
    return new Promise((resolve, reject) => {
      const request = (this.#isSecure() ? https : http).request(url, {
        method,
        agent: this.#agent,
        signal,
        timeout: idleTimeoutMs,
        headers: {
          'X-Api-Key': sourceKey,
          'Content-Type': 'application/json',
          ...headers,
        },
      });
      request.on('timeout', () => request.destroy(new Error(`no data for ${idleTimeoutMs / 1000} s`)));
      request.on('error', reject);
      request.on('response', (response) => readAnswer(response).then(resolve, reject));
      request.end(bytes ?? undefined);
    });
  }

  #isSecure(): boolean {
    return this.#endpoint.protocol === 'https:';
  }
}

interface BulkRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Absent for the bulk endpoint. */
  readonly path?: string;
  readonly bytes: Buffer | null;
  readonly headers: PackedBody['headers'];
}

/** The result of one attempt. `retryAfterMs` is null if it is final. */
type Attempt =
  | { readonly answer: BulkAnswer; readonly retryAfterMs: null }
  | { readonly answer: BulkAnswer | null; readonly retryAfterMs: number; readonly reason: string };

interface HttpAnswer extends BulkAnswer {
  readonly retryAfter: string | undefined;
}

/** Reads the response by events, because async iteration would cost more than the rest of the request. */
function readAnswer(response: http.IncomingMessage): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > answerBytesMax) response.destroy(new Error('the response is too long'));
      else chunks.push(chunk);
    });
    response.on('error', reject);
    response.on('close', () => reject(new Error('the response was truncated')));
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        body: Buffer.concat(chunks).toString('utf8'),
        retryAfter: response.headers['retry-after'],
        version: response.headers['x-service-version']?.toString(),
      }),
    );
  });
}

/** Exponential backoff with a jitter of up to half, so that importers do not retry together. */
function backOffMs(tries: number): number {
  const fullMs = Math.min(backOffMaxMs, backOffFirstMs * 2 ** (tries - 1));
  return fullMs * (0.5 + Math.random() / 2);
}

/** Milliseconds to wait by `Retry-After`, which has seconds or a date (RFC 9110, 10.2.3); 0 if it is absent or invalid. */
export function readRetryAfterMs(value: string | undefined, nowMs = Date.now()): number {
  if (value === undefined) return 0;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  const dateMs = Date.parse(value);
  return Number.isNaN(dateMs) ? 0 : Math.max(0, dateMs - nowMs);
}
