/** Entity tags (RFC 9110, sections 8.8.3 and 13.1.2). */
import { strongDigest } from '../../store/codec/digest.ts';

/** 132 bits. */
const tagCharacters = 22;

/**
 * Weak, because one tag stands for a body in all its content codings. SHA-256, because with a digest that is easy to hit, someone
 * could choose a text whose page keeps its tag after the text is removed.
 */
export function etagOf(body: Uint8Array): string {
  return `W/"${strongDigest(body, tagCharacters)}"`;
}

/** Whether an `If-None-Match` header names the tag, compared weakly. */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}
