/** Writes an answer to the connection, however slowly the client reads. */

import type { HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { Answer } from './answer.ts';

/** Up to this size the rest of a body that the socket does not take is left to uWebSockets.js' own buffer. */
const bufferedBytesMax = 64 * 1024;

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text}`]),
);

/** Writes the whole answer; `done` is called once the socket has taken all of it, never after an abort. */
export function reply(res: HttpResponse, answer: Answer, done: () => void): void {
  res.cork(() => {
    res.writeStatus(statusLines.get(answer.status) ?? String(answer.status));
    for (const [name, value] of answer.headers ?? []) res.writeHeader(name, value);
    if (answer.status === 304) {
      res.endWithoutBody(undefined, answer.close);
      done();
      return;
    }
    res.writeHeader('Content-Type', answer.contentType);
    const { body } = answer;
    if (body.length <= bufferedBytesMax) {
      res.end(body, answer.close);
      done();
      return;
    }
    writeLarge(res, typeof body === 'string' ? Buffer.from(body) : body, done);
  });
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
