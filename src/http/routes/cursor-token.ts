/**
 * Cursors and continuation tokens (docs/reference/http.md "Listing routes"). A token holds a URL and is sealed. So only
 * tokens that we wrote for the same list are taken.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

const sealBytes = 9;

/** @param list name of the list: two lists never take each other's tokens */
export function sealUrl(secret: Buffer, list: string, url: string): string {
  const text = Buffer.from(url);
  return Buffer.concat([sealOf(secret, list, text), text]).toString('base64url');
}

/** The URL of a token; null when we did not write the token for this list. */
export function unsealUrl(secret: Buffer, list: string, token: string): string | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length <= sealBytes || bytes.toString('base64url') !== token) return null;
  const text = bytes.subarray(sealBytes);
  return timingSafeEqual(bytes.subarray(0, sealBytes), sealOf(secret, list, text)) ? text.toString() : null;
}

function sealOf(secret: Buffer, list: string, text: Buffer): Buffer {
  return createHmac('sha256', secret).update(`${list}\n`).update(text).digest().subarray(0, sealBytes);
}
