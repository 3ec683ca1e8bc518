/** What a handler gives back; the server writes it down. */

export type HeaderField = readonly [name: string, value: string];

export interface Answer {
  readonly status: number;
  /** With status 304 it is not sent, nor is its length. */
  readonly body: string | Uint8Array;
  readonly contentType: string;
  readonly headers?: readonly HeaderField[];
  /** Status, headers and content type as they go out, for an answer that is written often; see `headOf`. */
  readonly head?: Uint8Array;
  /** Name of the problem that it tells of, for the log. */
  readonly problem?: string;
  /** Ends the connection behind the answer. */
  readonly close?: boolean;
  /** Of the body the length alone is told: a client that asked with HEAD takes what follows for the next answer. */
  readonly isHead?: boolean;
}

export const jsonType = 'application/json; charset=utf-8';

export function jsonAnswer(status: number, value: unknown, headers: readonly HeaderField[] = []): Answer {
  return { status, body: JSON.stringify(value), contentType: jsonType, headers };
}
