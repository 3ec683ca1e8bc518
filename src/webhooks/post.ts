/**
 * Sends one request to a receiver, and computes when to retry it (docs/reference/webhooks.md "Retries"). The address is
 * checked when the connection is made, because a name may resolve to another address each time.
 */
import { type LookupAddress, type LookupOptions, lookup as resolve } from 'node:dns';
import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import {
  webhookAnswerMs,
  webhookRetryAfterMaxMs,
  webhookRetryFirstMs,
  webhookRetryJitter,
  webhookRetryMaxMs,
} from '../contract/limits.ts';
import { type AddressGuard, hostOf } from './allowed-addresses.ts';

const retryAfterMinMs = 1000;

export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';

  constructor(host: string) {
    super(`${host} has no public address. To allow it, add it to WEBHOOK_ALLOW`);
  }
}

/** The receiver did not respond; the message says why. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
}

export interface Posted {
  readonly status: number;
  /** The `Retry-After` header as received; null when absent. */
  readonly retryAfter: string | null;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How much of a response body is read and discarded, so that the receiver can finish it. */
const responseBytesMax = 64 * 1024;
/** How long it is read. A slower body does not change the result. */
const responseReadMs = 1_000;

/**
 * Sends a POST. It follows no redirects and discards the response body.
 * @param signal aborts it
 * @throws AddressRefusedError, NoResponseError
 */
export function post(
  { url, headers, body }: Post,
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<Posted> {
  const host = hostOf(url);
  const isAddress = isIP(host) !== 0;
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((done, fail) => {
    if (isAddress && !guard.allowsName(host) && !guard.allowsAddress(host)) {
      fail(new AddressRefusedError(host));
      return;
    }
    const request = send(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      agent: false,
      lookup: guardedLookup(guard, host),
      signal,
    });
    const timer = setTimeout(() => {
      request.destroy(new NoResponseError(`no response within ${webhookAnswerMs / 1000} s`));
    }, webhookAnswerMs);
    let posted: Posted | null = null;
    // One connection at a time: the next request waits until this one is closed.
    request.on('close', () => {
      clearTimeout(timer);
      if (posted !== null) done(posted);
    });
    request.on('error', (error) => {
      if (posted === null) fail(noResponse(error));
    });
    request.on('response', (response) => {
      posted = postedOf(response);
      discardBody(request, response);
    });
    // After a 101 response there is no `response` event, so this is the only way to settle the request.
    request.on('upgrade', (response, socket) => {
      posted = postedOf(response);
      socket.destroy();
      done(posted);
    });
    request.end(body);
  });
}

function postedOf({ statusCode = 0, headers }: IncomingMessage): Posted {
  return { status: statusCode, retryAfter: headers['retry-after'] ?? null };
}

function noResponse(error: Error & { readonly code?: string }): Error {
  if (error instanceof AddressRefusedError || error instanceof NoResponseError) return error;
  return new NoResponseError(`no response: ${error.code ?? error.message}`);
}

/** Reads and discards the response body, within limits. */
function discardBody(request: ClientRequest, response: IncomingMessage): void {
  let bytes = 0;
  const timer = setTimeout(() => request.destroy(), responseReadMs);
  request.on('close', () => clearTimeout(timer));
  response.on('error', () => {});
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > responseBytesMax) request.destroy();
  });
}

type Resolved = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Resolves a name to its allowed addresses only. */
function guardedLookup(guard: AddressGuard, host: string) {
  return (name: string, options: LookupOptions, resolved: Resolved): void => {
    resolve(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return resolved(error, []);
      const allowed = guard.allowsName(host)
        ? addresses
        : addresses.filter(({ address }) => guard.allowsAddress(address));
      const [first] = allowed;
      if (first === undefined) return resolved(new AddressRefusedError(host), []);
      if (options.all === true) resolved(null, allowed);
      else resolved(null, first.address, first.family);
    });
  };
}

/**
 * The delay before the next attempt, in ms.
 * @param failures consecutive failed attempts, at least 1
 * @param retryAfter header of the last response
 * @param chance random number from 0 to 1, for jitter
 */
export function retryDelay(
  failures: number,
  retryAfter: string | null,
  nowMs: number,
  chance: number,
): number {
  const backoffMs = Math.min(webhookRetryMaxMs, webhookRetryFirstMs * 2 ** Math.min(failures - 1, 30));
  const requestedMs = retryAfter === null ? null : retryAfterMs(retryAfter, nowMs);
  return Math.round((requestedMs ?? backoffMs) * (1 + webhookRetryJitter * chance));
}

/** RFC 9110, section 10.2.3: seconds or a date. Null for anything else. */
function retryAfterMs(text: string, nowMs: number): number | null {
  const ms = /^[0-9]{1,12}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  if (Number.isNaN(ms)) return null;
  return Math.min(webhookRetryAfterMaxMs, Math.max(retryAfterMinMs, ms));
}
