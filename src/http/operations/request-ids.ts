/** Ids that follow a request through logs and other systems: `X-Request-Id`, and `traceparent` of W3C Trace Context. */

import { randomBytes } from 'node:crypto';
import type { HeaderReader } from '../uws/request-headers.ts';

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Different in each process. */
const madeStart = randomBytes(9).toString('base64url');
let made = 0;

/** The client's own id where it can be used, else a new one. */
export function requestIdOf(headers: HeaderReader): string {
  const sent = headers.of('x-request-id');
  if (sent !== '' && requestIdPattern.test(sent)) return sent;
  made += 1;
  return `${madeStart}-${made.toString(36)}`;
}

/** Null when the client sent none, or one that is malformed. */
export function traceparentOf(headers: HeaderReader): string | null {
  return validTraceparent(headers.of('traceparent'));
}

export function validTraceparent(sent: string): string | null {
  return traceparentPattern.test(sent) ? sent : null;
}
