/**
 * Cursors and continuation tokens: a URL, sealed so that only tokens of ours, for this list, are taken
 * (docs/reference/http.md "Listing routes").
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const sealBytes = 9;

/** @param list what the token is for: two lists never take each other's tokens */
export function sealUrl(secret: Buffer, list: string, url: string): string {
  const text = Buffer.from(url);
  return Buffer.concat([sealOf(secret, list, text), text]).toString('base64url');
}

/** The URL of a token, or null when it is not ours. */
export function unsealUrl(secret: Buffer, list: string, token: string): string | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= sealBytes || bytes.toString('base64url') !== token) return null;
  const text = bytes.subarray(sealBytes);
  return timingSafeEqual(bytes.subarray(0, sealBytes), sealOf(secret, list, text)) ? text.toString() : null;
}

function sealOf(secret: Buffer, list: string, text: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${list}\n`).update(text).digest().subarray(0, sealBytes);
}
