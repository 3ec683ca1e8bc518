/** The headers of a request, copied because uWebSockets.js invalidates the request when its handler returns. */
import type { HttpRequest } from 'uWebSockets.js';
import { headerText, replacement } from './text-decoding.ts';

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
