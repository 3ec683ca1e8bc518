/** The head of a request: its headers, and how they, its path and its query string are decoded. */
import type { HttpRequest } from 'uWebSockets.js';

/** Request headers, as handlers read them. */
export interface HeaderReader {
  /** The first value of a header; '' if it is absent. @param name in lower case */
  of(name: string): string;
}

/**
 * Headers that a request must not have twice, because a proxy and this server could use different ones: two lengths hide a
 * request in a body, and with two keys or hosts one side checks a value that the other does not use (RFC 9112, sections 3.2 and
 * 6.3). Each with its lower-case name and its name in messages.
 */
const singleHeaders = [
  ['content-length', 'Content-Length'],
  ['host', 'Host'],
  ['x-api-key', 'X-Api-Key'],
  ['authorization', 'Authorization'],
] as const;

/** The headers are copied, because uWebSockets.js invalidates the request when its handler returns. */
export class RequestHeaders implements HeaderReader {
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  // One iteration is cheaper than asking the library for each name, because most headers are absent.
  constructor(request: Pick<HttpRequest, 'forEach' | 'getHeader'>) {
    request.forEach((name, value) => {
      // `forEach` decodes UTF-8. `getHeader` returns one character per byte, but only of the first value.
      const isLatin = value.includes(replacement) && !this.#names.includes(name);
      this.#names.push(name);
      this.#values.push(isLatin ? headerText(request.getHeader(name)) : value);
    });
  }

  of(name: string): string {
    const at = this.#names.indexOf(name);
    return at === -1 ? '' : (this.#values[at] ?? '');
  }

  /** Name of a header that was sent twice with different values, or null. */
  get repeated(): string | null {
    for (const [name, shown] of singleHeaders) if (this.#isRepeated(name)) return shown;
    return null;
  }

  #isRepeated(name: string): boolean {
    const first = this.#names.indexOf(name);
    if (first === -1) return false;
    for (let at = this.#names.indexOf(name, first + 1); at !== -1; at = this.#names.indexOf(name, at + 1)) {
      if (this.#values[at] !== this.#values[first]) return true;
    }
    return false;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const beyondAscii = /[\x80-\xff]/;

/**
 * Decodes a header value of `getHeader` of uWebSockets.js, which has one character per byte: as UTF-8 if it is valid, otherwise
 * as Latin-1, which many HTTP clients send. The library strips bytes beyond ASCII at either end, so such values must be
 * percent-encoded.
 */
export function headerText(raw: string): string {
  if (!beyondAscii.test(raw)) return raw;
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/** The character with which uWebSockets.js replaces bytes that are not UTF-8. */
const replacement = '\ufffd';

/**
 * Decodes a percent-encoded path segment or query component, which uWebSockets.js has decoded as UTF-8. Null if it is not valid
 * UTF-8. `+` is a plus sign.
 */
export function percentDecoded(raw: string): string | null {
  if (raw.includes(replacement)) return null;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/**
 * The parameters of a query string, in order. `+` is a space (application/x-www-form-urlencoded). Null if one of them is not
 * percent-encoded UTF-8.
 */
export function queryParameters(query: string): [name: string, value: string][] | null {
  const parameters: [string, string][] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = percentDecoded(plusAsSpace(at === -1 ? part : part.slice(0, at)));
    const value = percentDecoded(plusAsSpace(at === -1 ? '' : part.slice(at + 1)));
    if (name === null || value === null) return null;
    parameters.push([name, value]);
  }
  return parameters;
}

function plusAsSpace(text: string): string {
  return text.includes('+') ? text.replaceAll('+', ' ') : text;
}
