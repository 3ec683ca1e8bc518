/** What an environment client says to caches before the fronts (docs/guide/caches.md): `cacheControl`, `cacheTags`. */
import type { Cursor } from '../../contract/config-cursor.ts';
import { cacheControlCharactersMax, configNameCharactersMax } from '../../contract/limits.ts';
import { quote } from '../../lib/quote.ts';
import type { CacheTagHeader } from '../configuration.ts';

/** Visible ASCII, and spaces within: what every HTTP program lets through as it is (RFC 9110, section 5.5). */
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 9110, section 5.6.2. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers whose caches take tags that are separated by spaces. */
const spaced = new Set(['surrogate-key', 'xkey']);
/** Headers that mean something else, to the front or to readers of its answers. */
const taken =
  /^(?:access-control-.*|age|allow|(?:.*-)?cache-control|clear-site-data|connection|content-.*|date|etag|expires|keep-alive|last-modified|link|location|pragma|proxy-.*|refresh|retry-after|server|set-cookie2?|surrogate-control|edge-control|status|strict-transport-security|te|trailer|transfer-encoding|upgrade|vary|via|warning|www-authenticate|x-accel-.*|.*-version)$/;

/** Null when the client says nothing, and with an issue for what is not a header value. */
export function readCacheControl(at: Cursor): string | null {
  const text = at.isAbsent ? null : at.filledText();
  if (text === null || (headerValue.test(text) && text.length <= cacheControlCharactersMax)) return text;
  at.issue(
    'not the value of a Cache-Control header',
    'Write it as in "public, s-maxage=31536000": visible ASCII characters with spaces between, in one line, ' +
      `at most ${cacheControlCharactersMax}.`,
  );
  return null;
}

/** Null when the client wants no tags, and with an issue for what no header for them can be called. */
export function readCacheTags(at: Cursor): CacheTagHeader | null {
  const name = at.isAbsent ? null : at.filledText();
  if (name === null) return null;
  const lower = name.toLowerCase();
  if (!headerName.test(name) || name.length > configNameCharactersMax) {
    at.issue(
      `${quote(name)} is not the name of a header`,
      `Write the one that your cache reads, as "Cache-Tag", "Surrogate-Key" or "xkey"; at most ${configNameCharactersMax} characters.`,
    );
    return null;
  }
  if (taken.test(lower)) {
    at.issue(
      `the header ${quote(name)} means something else`,
      'Write the one that your cache reads tags from, as "Cache-Tag", "Surrogate-Key" or "xkey".',
    );
    return null;
  }
  return { name, separator: spaced.has(lower) ? ' ' : ',' };
}
