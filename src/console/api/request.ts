/** Sends requests to `/management/v1` on the same origin, with the key of this tab. */
const base = '/management/v1';

/** An error response, or no response (`status` 0). */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly status: number,
    message: string,
    /** All errors, if the response lists them. */
    readonly errors: readonly string[] = [],
    /** Its name in docs/reference/errors.md; '' if there is none. */
    readonly code = '',
  ) {
    super(message);
  }
}

export function requestErrorOf(error: unknown): RequestError {
  return error instanceof RequestError ? error : new RequestError(0, String(error));
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly body?: unknown;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

export type Parameters = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The path with all parameters that have a value. */
export function withParameters(path: string, parameters: Parameters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * @param path after `/management/v1`
 * @throws RequestError
 */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

/** Returns a successful response before its body is read. @throws RequestError */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, key = keptKey() ?? '', signal } = options;
  const response = await fetch(base + path, {
    method,
    headers: { 'X-Api-Key': key, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new RequestError(0, 'Millrace does not respond. Check that it is running and that you are online.');
  });
  if (response.status === 401 && key === keptKey()) keyEvents.dispatchEvent(new Event('refused'));
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response: Response): Promise<RequestError> {
  const text = await response.text();
  try {
    const { message, errors, code } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return new RequestError(
      response.status,
      typeof message === 'string' ? message : text,
      Array.isArray(errors) ? errors.map(String) : [],
      typeof code === 'string' ? code : '',
    );
  } catch {
    return new RequestError(response.status, text === '' ? `Status ${response.status}` : text);
  }
}

/** The management key is only stored in this tab, and only sent to this origin. */

const keyName = 'millrace-management-key';

/** Emits `refused` when the key of this tab is no longer accepted. */
export const keyEvents = new EventTarget();

/** The key of this tab; null if there is none. */
export function keptKey(): string | null {
  return sessionStorage.getItem(keyName);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(keyName, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(keyName);
}
