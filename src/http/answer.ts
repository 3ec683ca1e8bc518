/** The response that a handler returns, as JSON or as server-sent events. */

import { weightsOf } from './content-coding.ts';
import type { OpenStream } from './uws/event-streams.ts';

export type HeaderField = readonly [name: string, value: string];

export interface Answer {
  readonly status: number;
  /** Ignored for status 204 and 304: neither the body nor its length is sent. */
  readonly body: string | Uint8Array;
  readonly contentType: string;
  /** Without `Cache-Control`, the response is not stored. */
  readonly headers?: readonly HeaderField[];
  /** From `headOf`: status, headers and content type, encoded. For responses that are sent often. */
  readonly head?: Uint8Array;
  /** Streams events after the headers; `body` is empty then. Absent for a plain response. */
  readonly follow?: OpenStream;
  /** Name of the problem that the response reports, for the log. */
  readonly problem?: string;
  /** Body of an internal error, not yet JSON: the server adds the request id. */
  readonly problemBody?: object;
  /** Closes the connection after the response. */
  readonly close?: boolean;
  /** Sends only the length of the body: after a HEAD request, the client would take the body for the next response. */
  readonly isHead?: boolean;
}

/**
 * For all responses that do not say otherwise: they belong to a key, or may differ a moment later, and a cache may store some
 * responses without `Cache-Control` (RFC 9111, section 4.2.2).
 */
export const notStored: HeaderField = ['Cache-Control', 'no-store'];

export const jsonType = 'application/json; charset=utf-8';
export const xmlType = 'application/xml; charset=utf-8';
export const eventStreamType = 'text/event-stream';
export const htmlType = 'text/html; charset=utf-8';
export const scriptType = 'text/javascript; charset=utf-8';
export const styleType = 'text/css; charset=utf-8';
export const svgType = 'image/svg+xml';

export function jsonAnswer<Value>(
  status: number,
  value: Value,
  headers: readonly HeaderField[] = [],
): Answer {
  return { status, body: JSON.stringify(value), contentType: jsonType, headers };
}

/** Whether an `Accept` header names server-sent events, with a weight over 0. */
export function acceptsEvents(accept: string): boolean {
  return accept.length >= eventStreamType.length && (weightsOf(accept).get(eventStreamType) ?? 0) > 0;
}

/** Server-sent events (the HTML standard, "Server-sent events"). */
export function eventsAnswer(follow: OpenStream): Answer {
  return {
    status: 200,
    body: '',
    contentType: eventStreamType,
    // Without it, proxies buffer events until they have a few kilobytes.
    headers: [['X-Accel-Buffering', 'no']],
    follow,
  };
}
