/** Sends requests to a platform: keys, versions, timeouts and retries; and the error of a failed request. */
export interface ConnectionOptions {
  /** Address of the platform: `https://content.example.com`. */
  readonly url: string;
  /** API key of an environment client; for everything that reads. */
  readonly key?: string;
  /** API key of a data source; for `save`, `saveMany` and `remove`. */
  readonly sourceKey?: string;
  /**
   * Every read returns at least the state after the earlier writes of this client. Writes wait up to 25 ms until they are
   * visible, so that most reads need not wait.
   */
  readonly readYourWrites?: boolean;
  /** How often a request is retried if the platform is busy or unreachable (default 3). */
  readonly retries?: number;
  /** Replaces the `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch;
  /** Same as the platform's setting `HEADER_PREFIX` (default `X-Service`). */
  readonly headerPrefix?: string;
  /** The `cacheTags` of the environment client, if it is not Cache-Tag, Surrogate-Key or xkey. */
  readonly tagHeader?: string;
}

/** Options of all reads. */
export interface ReadOptions {
  /** The `version` of a write or a change, or several of them: the response is at least as new as all of these. */
  readonly minVersion?: string | readonly string[];
  readonly signal?: AbortSignal;
}

export interface ClientRequest extends ReadOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses other than 2xx whose response is a result. */
  readonly accepts?: readonly number[];
}

export interface Reply<T> {
  readonly body: T;
  readonly status: number;
  /** Version of a write; null for a read. */
  readonly version: string | null;
  /** Cache tags; empty if the environment client has no `cacheTags`. */
  readonly tags: readonly string[];
  /** Including its quotes; null if the response has none. */
  readonly etag: string | null;
}

interface SentRequest extends ClientRequest {
  /** The caller reads the body of a successful response. */
  readonly isStreamed?: boolean;
}

interface Received {
  readonly response: Response;
  /** Its body; empty if it is streamed. */
  readonly text: string;
}

const retriesDefault = 3;
/** For writes with `readYourWrites`. */
const visibilityWaitMs = 25;
const backoffFirstMs = 200;
const backoffMaxMs = 10_000;
const tagHeaders = ['Cache-Tag', 'Surrogate-Key', 'xkey'];
/** Details of an error without a complete response. */
const noResponse = { status: 0, code: null, errors: {} };
/** Statuses of temporary errors, which are retried. */
const retriedStatuses = new Set([429, 502, 503, 504]);

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #prefix: string;
  #version: string | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#prefix = options.headerPrefix ?? 'X-Service';
  }

  /** @throws MillraceError */
  async read<T>(request: ClientRequest): Promise<Reply<T>> {
    return await this.#exchange<T>(this.#withReadHeaders(request));
  }

  /** @throws MillraceError */
  async write<T>(request: ClientRequest): Promise<Reply<T>> {
    const { sourceKey = '', readYourWrites = false } = this.#options;
    const wait = readYourWrites ? { [`${this.#prefix}-Wait`]: String(visibilityWaitMs) } : {};
    const headers = { ...request.headers, 'X-Api-Key': sourceKey, ...wait };
    const reply = await this.#exchange<T>({ ...request, headers });
    this.#version = mergedVersion(this.#version, reply.version);
    return reply;
  }

  /** Opens a streaming response. @throws MillraceError */
  async open(request: ClientRequest): Promise<Response> {
    const { response } = await this.#fetchWithRetries({ ...this.#withReadHeaders(request), isStreamed: true });
    return response;
  }

  /** How long to wait before a retry. @param attempt from 0 */
  backoffMs(attempt: number): number {
    return Math.min(backoffMaxMs, backoffFirstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
  }

  #withReadHeaders(request: ClientRequest): ClientRequest {
    const { key = '', readYourWrites = false } = this.#options;
    const version = mergedVersionOf(request.minVersion) ?? (readYourWrites ? this.#version : null);
    return {
      ...request,
      headers: {
        ...request.headers,
        'X-Api-Key': key,
        ...(version === null ? {} : { [`${this.#prefix}-Min-Version`]: version }),
      },
    };
  }

  async #exchange<T>(request: ClientRequest): Promise<Reply<T>> {
    const { response, text } = await this.#fetchWithRetries(request);
    const { status, headers } = response;
    const body = parsed(text) as T | undefined;
    if (body === undefined) throw errorOf(status, { message: `${this.#options.url} responded without JSON` });
    const version = headers.get(`${this.#prefix}-Version`);
    return { body, status, version, tags: this.#tagsIn(headers), etag: headers.get('ETag') };
  }

  #tagsIn(headers: Headers): string[] {
    const { tagHeader } = this.#options;
    const names = tagHeader === undefined ? tagHeaders : [tagHeader];
    const value = names.map((name) => headers.get(name)).find((text) => text !== null);
    return value?.split(/[\s,]+/).filter((tag) => tag !== '') ?? [];
  }

  /** Retries are safe for all requests, because repeating a save or a delete changes nothing. */
  async #fetchWithRetries(request: SentRequest): Promise<Received> {
    const { retries = retriesDefault } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#send(request);
      const isLast = attempt >= retries;
      if (outcome instanceof MillraceError) {
        if (isLast) throw outcome;
        await pause(this.backoffMs(attempt), request.signal);
        continue;
      }
      const { response, text } = outcome;
      if (response.ok || request.accepts?.includes(response.status)) return outcome;
      if (isLast || !retriedStatuses.has(response.status))
        throw errorOf(response.status, parsed(text) ?? { message: text });
      await pause(retryAfterMs(response) ?? this.backoffMs(attempt), request.signal);
    }
  }

  /** @throws the reason with which the signal was aborted */
  async #send(request: SentRequest): Promise<Received | MillraceError> {
    const { method = 'GET', path, body, headers, signal, isStreamed = false } = request;
    const { fetch = globalThis.fetch, url } = this.#options;
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await fetch(url.replace(/\/+$/, '') + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...json,
        ...(signal === undefined ? {} : { signal }),
      });
      return { response, text: isStreamed && response.ok ? '' : await response.text() };
    } catch (error) {
      signal?.throwIfAborted();
      return new MillraceError(`${url} cannot be reached`, noResponse, { cause: error });
    }
  }
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** @returns undefined if it is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws the reason with which the signal was aborted */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Prefix of versions in `X-Service-Version`, which a position per partition follows. */
const versionPrefix = 'v1-';

/**
 * A version at least as new as both. Writes may use several connections to several fronts, none of which knows all of them.
 * @param later the result if they cannot be combined
 */
export function mergedVersion(earlier: string | null, later: string | null): string | null {
  if (earlier === null || later === null) return later ?? earlier;
  if (!earlier.startsWith(versionPrefix) || !later.startsWith(versionPrefix)) return later;
  const positions = new Map<string, string>();
  for (const entry of [...entriesOf(earlier), ...entriesOf(later)]) {
    const [, partition = '', position = ''] = /^(\d+[.~])(.*)$/.exec(entry) ?? [];
    const known = positions.get(partition);
    if (known === undefined || Number.parseInt(position, 36) > Number.parseInt(known, 36)) {
      positions.set(partition, position);
    }
  }
  return versionPrefix + [...positions].map(([partition, position]) => partition + position).join('-');
}

/** A version at least as new as all of them; null if there are none. */
function mergedVersionOf(versions: string | readonly string[] | undefined): string | null {
  if (versions === undefined || typeof versions === 'string') return versions ?? null;
  return versions.reduce<string | null>(mergedVersion, null);
}

function entriesOf(version: string): string[] {
  return version
    .slice(versionPrefix.length)
    .split('-')
    .filter((entry) => entry !== '');
}

/** An error response of the platform, or a failed connection. */
export class MillraceError extends Error {
  override readonly name = 'MillraceError';
  /** HTTP status; 0 without a complete response. */
  readonly status: number;
  /** Name of the error in the error catalogue; null without a response of the platform. */
  readonly code: string | null;
  /** Errors in the form of the interface: field -> text, originId -> texts, or a list of texts. May be empty. */
  readonly errors: Readonly<Record<string, unknown>> | readonly unknown[];

  constructor(
    message: string,
    details: Pick<MillraceError, 'status' | 'code' | 'errors'>,
    options?: { readonly cause: unknown },
  ) {
    super(message, options);
    this.status = details.status;
    this.code = details.code;
    this.errors = details.errors;
  }
}

/** The error for a response with an error status. */
export function errorOf(status: number, body: unknown): MillraceError {
  const { message, error, code, errors } = recordOf(body);
  const text = typeof message === 'string' ? message : typeof error === 'string' ? error : `HTTP ${status}`;
  return new MillraceError(text, {
    status,
    code: typeof code === 'string' ? code : null,
    errors: Array.isArray(errors) ? errors : recordOf(errors),
  });
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
