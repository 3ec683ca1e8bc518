/** The result of a handler, as JSON or as server-sent events. The server writes it to the connection. */
import type { OpenStream } from './uws/event-streams.ts';

export type HeaderField = readonly [name: string, value: string];

export interface Answer {
  readonly status: number;
  /** An answer with status 204 or 304 sends neither the body nor its length. */
  readonly body: string | Uint8Array;
  readonly contentType: string;
  readonly headers?: readonly HeaderField[];
  /** From `headOf`: status, headers and content type as they go out. For an answer that is written often. */
  readonly head?: Uint8Array;
  /** Streams the response after its headers; the body is empty. Absent for a plain response. */
  readonly follow?: OpenStream;
  /** Name of the problem in the response, for the log. */
  readonly problem?: string;
  /** The body of an internal error before it is written: the server adds the id of the request. */
  readonly problemBody?: object;
  /** The connection ends after the answer. */
  readonly close?: boolean;
  /**
   * The answer tells only the length of its body: a client that asked with HEAD takes what follows for the next answer.
   */
  readonly isHead?: boolean;
}

/** For errors, and for responses that say that nothing is there, so that new content is visible immediately. */
export const notStored: HeaderField = ['Cache-Control', 'no-store'];

export const jsonType = 'application/json; charset=utf-8';

export function jsonAnswer<Value>(
  status: number,
  value: Value,
  headers: readonly HeaderField[] = [],
): Answer {
  return { status, body: JSON.stringify(value), contentType: jsonType, headers };
}

const eventStreamType = /(?:^|[\s,])text\/event-stream(?:$|[\s,;])/i;

/** Whether a client accepts server-sent events. */
export function acceptsEvents(accept: string): boolean {
  return accept.length > 15 && eventStreamType.test(accept);
}

/** Server-sent events (the HTML standard, "Server-sent events"). */
export function eventsAnswer(follow: OpenStream): Answer {
  return {
    status: 200,
    body: '',
    contentType: 'text/event-stream',
    // Proxies would hold events back until they have some kilobytes of them.
    headers: [notStored, ['X-Accel-Buffering', 'no']],
    follow,
  };
}
