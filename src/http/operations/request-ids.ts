/** Ids that follow a request through logs and other systems: `X-Request-Id`, and `traceparent` of W3C Trace Context. */

import type { HttpRequest } from 'uWebSockets.js';
import { randomBytes } from 'node:crypto';
import { HeaderName } from '../uws/header-name.ts';

export const requestIdHeader = new HeaderName('x-request-id');
export const traceparentHeader = new HeaderName('traceparent');

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Different in each process. */
const madeStart = randomBytes(9).toString('base64url');
let made = 0;

/** The client's own id where it can be used, else a new one. */
export function requestIdOf(request: Pick<HttpRequest, 'getHeader'>): string {
  const sent = requestIdHeader.of(request);
  if (sent !== '' && requestIdPattern.test(sent)) return sent;
  made += 1;
  return `${madeStart}-${made.toString(36)}`;
}

/** Null when the client sent none, or one that is malformed. */
export function traceparentOf(request: Pick<HttpRequest, 'getHeader'>): string | null {
  return validTraceparent(traceparentHeader.of(request));
}

export function validTraceparent(sent: string): string | null {
  return traceparentPattern.test(sent) ? sent : null;
}
