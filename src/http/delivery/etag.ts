/** Entity tags (RFC 9110, sections 8.8.3 and 13.1.2). */
import xxhash from 'xxhash-wasm';

const { h64Raw } = await xxhash();

/** Weak, because one tag stands for a body in all its content codings. */
export function etagOf(body: Uint8Array): string {
  return `W/"${h64Raw(body).toString(36)}"`;
}

/** Whether an `If-None-Match` header names the tag, compared weakly. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
