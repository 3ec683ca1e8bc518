/** Writes an answer to the connection, however slowly the client reads. */

import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { Answer, HeaderField } from './answer.ts';

/** Up to this size the rest of a body that the socket does not take is left to uWebSockets.js' own buffer. */
const bufferedBytesMax = 64 * 1024;

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Headers as the lines of a head, for `headOf`. */
export function headLines(headers: readonly HeaderField[]): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value}`).join('');
}

/**
 * A head that is handed over in one piece: uWebSockets.js writes a status as it is, so the headers can stand behind it.
 * Bytes, because a text would be encoded anew with each answer.
 * @param lines from `headLines`
 */
export function headOf(status: number, lines: string): Uint8Array {
  return Buffer.from(statusLine(status) + lines, 'latin1');
}

/** True for an answer that is written in one go, whatever the socket takes of it now. */
export function isSmall({ body, isHead }: Answer): boolean {
  return isHead === true || body.length <= bufferedBytesMax;
}

/** Writes a small answer. Inside uWebSockets.js' own handlers, which are corked. */
export function writeSmall(res: HttpResponse, answer: Answer): void {
  writeHead(res, answer);
  // Any argument, even undefined, is taken for a length that is then waited for; so such a connection stays until the
  // server closes it.
  if (answer.status === 304) res.endWithoutBody();
  else if (answer.isHead === true) {
    res.writeHeader('Content-Length', String(Buffer.byteLength(answer.body)));
    res.endWithoutBody();
  } else res.end(answer.body, answer.close);
}

/** Writes the whole answer; `done` is called once the socket has taken all of it, never after an abort. */
export function reply(res: HttpResponse, answer: Answer, done: () => void): void {
  res.cork(() => {
    if (isSmall(answer)) {
      writeSmall(res, answer);
      done();
      return;
    }
    writeHead(res, answer);
    const { body } = answer;
    writeLarge(res, typeof body === 'string' ? Buffer.from(body) : body, done);
  });
}

function writeHead(res: HttpResponse, { status, headers, contentType, head }: Answer): void {
  if (head !== undefined) {
    res.writeStatus(head);
    return;
  }
  // 200 is what uWebSockets.js writes by itself.
  if (status !== 200) res.writeStatus(statusLine(status));
  if (headers !== undefined) {
    for (const [name, value] of headers) res.writeHeader(name, value);
  }
  if (status !== 304) res.writeHeader('Content-Type', contentType);
}

function statusLine(status: number): string {
  return statusLines.get(status) ?? String(status);
}

/** Hands over only what the socket takes, so that a client that does not read costs no second copy of the body. */
function writeLarge(res: HttpResponse, body: Uint8Array, done: () => void): void {
  const [, responded] = res.tryEnd(body, body.length);
  if (responded) {
    done();
    return;
  }
  res.onWritable((offset) => {
    const [taken, finished] = res.tryEnd(body.subarray(offset), body.length);
    if (finished) done();
    return taken;
  });
}
