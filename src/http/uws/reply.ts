/** Writes an answer to the connection. `unsent-answers.ts` sends what the client does not take immediately. */

import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { bodilessAnswersPerConnection, smallAnswerBytesMax } from '../../contract/limits.ts';
import type { Answer, HeaderField } from '../answer.ts';

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Headers as the lines of a head, for `headOf`. */
export function headLines(headers: readonly HeaderField[]): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

/**
 * A head in one piece. uWebSockets.js writes a status as it is, so the headers can be after it. The head is bytes,
 * because a text would be encoded again with each answer.
 * @param lines from `headLines`
 */
export function headOf(status: number, lines: string): Uint8Array {
  return Buffer.from(statusLine(status) + lines, 'latin1');
}

/** Headers that an answer gets in addition to its own. */
export interface AddedHeaders {
  readonly requestId: string;
  /** From `headLines`; '' for none. */
  readonly addedLines: string;
}

/**
 * Writes an answer, within uWebSockets.js' own handlers or a cork. It hands over only what the connection takes. The
 * library would hold a copy of what is given to `end` for as long as the client likes, and would answer the next
 * request on the connection as well.
 * @returns the body, for `UnsentAnswers`, when the connection does not take all of it now; null when the answer is over
 */
export function writeAnswer(res: HttpResponse, answer: Answer, added: AddedHeaders): Uint8Array | null {
  writeHead(res, answer, added);
  const { status, body, isHead } = answer;
  if (isBodiless(status) || isHead === true) {
    writeBodiless(res, answer);
    return null;
  }
  // The library gets no text: with Node 24 it writes one whose letters all are of Latin-1 in that encoding.
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (answer.close === true && bytes.length <= smallAnswerBytesMax) {
    res.end(bytes, true);
    return null;
  }
  // The library closes a connection only after what is given to `end`. The client also closes it when asked to.
  if (answer.close === true) res.writeHeader('Connection', 'close');
  return res.tryEnd(bytes, bytes.length)[1] ? null : bytes;
}

/** Bytes of the body, which is written after the head. */
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
    // uWebSockets.js writes 200 by itself.
    if (status !== 200) res.writeStatus(statusLine(status));
    if (headers !== undefined) writeHeaders(res, headers);
    if (!isBodiless(status)) res.writeHeader('Content-Type', contentType);
  }
  // The library writes a value as it is, so further lines can be after it.
  res.writeHeader('X-Request-Id', requestId + addedLines);
}

function writeHeaders(res: HttpResponse, headers: readonly HeaderField[]): void {
  for (const [name, value] of headers) res.writeHeader(name, value);
}

/** Answers of these statuses have no body, and no length of one (RFC 9110, section 8.6). */
function isBodiless(status: number): boolean {
  return status === 304 || status === 204;
}

/**
 * uWebSockets.js does not report whether the client reads a response without a body. So some of these answers, chosen at
 * random, end their connection, as nginx does after 1,000 requests. A client that asks on and reads nothing is then not
 * answered without end.
 */
function writeBodiless(res: HttpResponse, answer: Answer): void {
  if (!isBodiless(answer.status)) res.writeHeader('Content-Length', String(bodyBytesOf(answer)));
  if (answer.close === true || Math.random() * bodilessAnswersPerConnection < 1) {
    endHeadAndConnection(res);
    return;
  }
  // No argument here: the library takes any, even undefined, for a length and waits for that many bytes. Without one
  // the connection stays until the server closes it.
  res.endWithoutBody();
}

/**
 * Closes the connection when the head has left. The library's own ways to end an answer either add a length, which a 204
 * must not have, or leave nothing to close the connection of a client that reads nothing. It writes a header's value as
 * it is, so the empty line that ends the head can be after it.
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
