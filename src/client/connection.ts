/** One request after another to a platform: keys, versions, waiting and trying again; and the error of one that failed. */
export interface ConnectionOptions {
  /** Address of the platform: `https://content.example.com`. */
  readonly url: string;
  /** API key of an environment client; for everything that reads. */
  readonly key?: string;
  /** API key of a data source; for `save`, `saveMany` and `remove`. */
  readonly sourceKey?: string;
  /**
   * Every read shows at least what this client has written before. Writes wait up to 25 ms until they are visible, so that
   * most reads do not have to.
   */
  readonly readYourWrites?: boolean;
  /** How often a request is tried again when the platform is busy or away (default 3). */
  readonly retries?: number;
  /** Instead of the `fetch` of the runtime. */
  readonly fetch?: typeof globalThis.fetch;
  /** As the platform's setting `HEADER_PREFIX` (default `X-Service`). */
  readonly headerPrefix?: string;
  /** The `cacheTags` of the environment client, when it is not Cache-Tag, Surrogate-Key or xkey. */
  readonly tagHeader?: string;
}

/** Options of every read. */
export interface ReadOptions {
  /** The `version` of a write or a change, or several of them: the answer shows at least all of these states. */
  readonly minVersion?: string | readonly string[];
  readonly signal?: AbortSignal;
}

export interface Ask extends ReadOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses besides 2xx whose answer is a result. */
  readonly accepts?: readonly number[];
}

export interface Reply<T> {
  readonly body: T;
  readonly status: number;
  /** Token of what was written; null for a read. */
  readonly version: string | null;
  /** Cache tags; empty when the environment client has no `cacheTags`. */
  readonly tags: readonly string[];
  /** With its quotes; null when the answer has none. */
  readonly etag: string | null;
}

const retriesDefault = 3;
/** Of a write with `readYourWrites`. */
const visibilityWaitMs = 25;
const waitFirstMs = 200;
const waitMaxMs = 10_000;
const tagHeaders = ['Cache-Tag', 'Surrogate-Key', 'xkey'];
/** Statuses that pass by themselves. */
const passing = new Set([429, 502, 503, 504]);

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #prefix: string;
  #version: string | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#prefix = options.headerPrefix ?? 'X-Service';
  }

  /** @throws MillraceError */
  async read<T>(ask: Ask): Promise<Reply<T>> {
    return await this.#exchange<T>(this.#reading(ask));
  }

  /** @throws MillraceError */
  async write<T>(ask: Ask): Promise<Reply<T>> {
    const { sourceKey = '', readYourWrites = false } = this.#options;
    const wait = readYourWrites ? { [`${this.#prefix}-Wait`]: String(visibilityWaitMs) } : {};
    const headers = { ...ask.headers, 'X-Api-Key': sourceKey, ...wait };
    const reply = await this.#exchange<T>({ ...ask, headers });
    this.#version = bothVersions(this.#version, reply.version);
    return reply;
  }

  /** Opens a streaming response. @throws MillraceError */
  async open(ask: Ask): Promise<Response> {
    return await this.#goodResponse(this.#reading(ask));
  }

  /** How long to wait before another try. @param attempt from 0 */
  pauseMs(attempt: number): number {
    return Math.min(waitMaxMs, waitFirstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
  }

  #reading(ask: Ask): Ask {
    const { key = '', readYourWrites = false } = this.#options;
    const version = oneVersion(ask.minVersion) ?? (readYourWrites ? this.#version : null);
    return {
      ...ask,
      headers: {
        ...ask.headers,
        'X-Api-Key': key,
        ...(version === null ? {} : { [`${this.#prefix}-Min-Version`]: version }),
      },
    };
  }

  async #exchange<T>(ask: Ask): Promise<Reply<T>> {
    const response = await this.#goodResponse(ask);
    const body = (await bodyOf(response)) as T;
    const { status, headers } = response;
    const version = headers.get(`${this.#prefix}-Version`);
    return { body, status, version, tags: this.#tagsIn(headers), etag: headers.get('ETag') };
  }

  #tagsIn(headers: Headers): string[] {
    const { tagHeader } = this.#options;
    const names = tagHeader === undefined ? tagHeaders : [tagHeader];
    const value = names.map((name) => headers.get(name)).find((text) => text !== null);
    return value?.split(/[\s,]+/).filter((tag) => tag !== '') ?? [];
  }

  /** Every request may be sent twice: a save or a removal that is done already changes nothing. */
  async #goodResponse(ask: Ask): Promise<Response> {
    const { retries = retriesDefault } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#send(ask);
      const isLast = attempt >= retries;
      if (outcome instanceof MillraceError) {
        if (isLast) throw outcome;
        await pause(this.pauseMs(attempt), ask.signal);
        continue;
      }
      if (outcome.ok || ask.accepts?.includes(outcome.status)) return outcome;
      if (isLast || !passing.has(outcome.status)) throw errorOf(outcome.status, await bodyOf(outcome));
      await pause(retryAfterMs(outcome) ?? this.pauseMs(attempt), ask.signal);
    }
  }

  /** @throws what the signal was aborted with */
  async #send({ method = 'GET', path, body, headers, signal }: Ask): Promise<Response | MillraceError> {
    const { fetch = globalThis.fetch, url } = this.#options;
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      return await fetch(url.replace(/\/+$/, '') + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        ...json,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      const details = { status: 0, code: null, errors: {} };
      return new MillraceError(`${url} cannot be reached`, details, { cause: error });
    }
  }
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** JSON, or the text of another response. */
async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}

/** @throws what the signal was aborted with */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Versions of writes from `X-Service-Version`: `v1-` and a position for each partition. */

const mark = 'v1-';

/**
 * A version as new as both. Writes may go over several connections, to several fronts, and none of these knows of all.
 * @param later the result if they cannot be combined
 */
export function bothVersions(earlier: string | null, later: string | null): string | null {
  if (earlier === null || later === null) return later ?? earlier;
  if (!earlier.startsWith(mark) || !later.startsWith(mark)) return later;
  const places = new Map<string, string>();
  for (const entry of [...entriesOf(earlier), ...entriesOf(later)]) {
    const [, partition = '', place = ''] = /^(\d+[.~])(.*)$/.exec(entry) ?? [];
    const known = places.get(partition);
    if (known === undefined || Number.parseInt(place, 36) > Number.parseInt(known, 36)) {
      places.set(partition, place);
    }
  }
  return mark + [...places].map(([partition, place]) => partition + place).join('-');
}

/** A version as new as all of them; null if there are none. */
function oneVersion(versions: string | readonly string[] | undefined): string | null {
  if (versions === undefined || typeof versions === 'string') return versions ?? null;
  return versions.reduce<string | null>(bothVersions, null);
}

function entriesOf(version: string): string[] {
  return version
    .slice(mark.length)
    .split('-')
    .filter((entry) => entry !== '');
}

/** An error response of the platform, or a failed connection. */
export class MillraceError extends Error {
  override readonly name = 'MillraceError';
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** Name of the error in the catalogue of errors; null when no answer of the platform came. */
  readonly code: string | null;
  /** Mistakes as the interface lists them: field -> text, originId -> texts, or a list of texts. Empty when there are none. */
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

/** The error of an answer with any status but a good one. */
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
