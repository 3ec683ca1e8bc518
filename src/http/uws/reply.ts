/** Writes a response to the connection. `unsent-answers.ts` sends the part that the connection does not take immediately. */

import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { bodilessAnswersPerConnection, smallAnswerBytesMax } from '../../contract/limits.ts';
import { type Answer, type HeaderField, notStored } from '../answer.ts';

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Header lines for `headOf`. */
export function headLines(headers: readonly HeaderField[]): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

/**
 * A response head in one piece: uWebSockets.js writes the status verbatim, so headers can follow it. In bytes, because a string
 * would be encoded for each response.
 * @param lines from `headLines`
 */
export function headOf(status: number, lines: string): Uint8Array {
  return Buffer.from(statusLine(status) + lines, 'latin1');
}

/** Headers to add to a response. */
export interface AddedHeaders {
  readonly requestId: string;
  /** From `headLines`; '' for none. */
  readonly addedLines: string;
}

/**
 * Writes a response, within a handler of uWebSockets.js or a cork. It passes only what the connection takes: with `end`, the
 * library would buffer a copy of the rest for as long as the client likes, and would handle the next request on the connection
 * meanwhile.
 * @returns the body, for `UnsentAnswers`, if the connection did not take all of it; null if the response is complete
 */
export function writeAnswer(res: HttpResponse, answer: Answer, added: AddedHeaders): Uint8Array | null {
  writeHead(res, answer, added);
  const { status, body, isHead } = answer;
  if (isBodiless(status) || isHead === true) {
    writeBodiless(res, answer);
    return null;
  }
  // Never pass a string: with Node 24 the library writes a string of Latin-1 characters in that encoding and not in UTF-8.
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (answer.close === true && bytes.length <= smallAnswerBytesMax) {
    res.end(bytes, true);
    return null;
  }
  // Only `end` can close the connection, so a large response asks the client to close it.
  if (answer.close === true) res.writeHeader('Connection', 'close');
  return res.tryEnd(bytes, bytes.length)[1] ? null : bytes;
}

/** Length of the body in bytes. */
export function bodyBytesOf({ body }: Answer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

export function writeHead(
  res: HttpResponse,
  { status, headers, contentType, head }: Answer,
  { requestId, addedLines }: AddedHeaders,
): void {
  if (head !== undefined) {
    res.writeStatus(head);
  } else {
    // uWebSockets.js writes 200 by default.
    if (status !== 200) res.writeStatus(statusLine(status));
    writeHeaders(res, headers);
    if (!isBodiless(status)) res.writeHeader('Content-Type', contentType);
  }
  // The library writes a value verbatim, so further lines can follow it.
  res.writeHeader('X-Request-Id', requestId + addedLines);
}

function writeHeaders(res: HttpResponse, headers: readonly HeaderField[] = []): void {
  for (const [name, value] of headers) res.writeHeader(name, value);
  const [cacheControl] = notStored;
  if (!headers.some(([name]) => name === cacheControl)) res.writeHeader(...notStored);
}

/** Responses with these statuses have neither a body nor a Content-Length (RFC 9110, section 8.6). */
function isBodiless(status: number): boolean {
  return status === 304 || status === 204;
}

/**
 * uWebSockets.js does not report whether the client reads a response without a body. So some of these responses, chosen at
 * random, close their connection, as nginx does after 1,000 requests. This bounds what a client can request without reading.
 */
function writeBodiless(res: HttpResponse, answer: Answer): void {
  if (!isBodiless(answer.status)) res.writeHeader('Content-Length', String(bodyBytesOf(answer)));
  if (answer.close === true || Math.random() * bodilessAnswersPerConnection < 1) {
    endHeadAndConnection(res);
    return;
  }
  // No argument: the library treats any, even undefined, as a length and waits for that many bytes, so the connection would
  // stay until the server closes it.
  res.endWithoutBody();
}

/**
 * Closes the connection after the head was sent. The library's methods to end a response either add a length, which a 204 must
 * not have, or cannot close the connection of a client that reads nothing. It writes a header value verbatim, so the empty line
 * that ends the head can follow it.
 */
function endHeadAndConnection(res: HttpResponse): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  res.writeHeader('Connection', 'close\r\n');
  setImmediate(() => {
    if (!isGone) res.close();
  });
}

function statusLine(status: number): string {
  return statusLines.get(status) ?? String(status);
}
