/** The headers of a request. They are copied: uWebSockets.js takes the request back when its handler returns. */
import type { HttpRequest } from 'uWebSockets.js';
import { headerText, replacement } from './text-decoding.ts';

/** Request headers, as handlers read them. */
export interface HeaderReader {
  /** The first value under a name; '' when there is none. @param name lower-cased */
  of(name: string): string;
}

/**
 * Headers that a request must not have twice. A proxy and this server could each take another one of them: two lengths hide a
 * request in a body, and two keys or hosts let one side check what the other does not use (RFC 9112, sections 3.2 and 6.3).
 * Name as the library gives it -> name as we write it.
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

  // One walk over what was sent is cheaper than asking the library for each name, most of which are absent.
  constructor(request: Pick<HttpRequest, 'forEach' | 'getHeader'>) {
    request.forEach((name, value) => {
      // `forEach` reads bytes as UTF-8. `getHeader` gives one character for each byte, but only of the first value.
      const isLatin = value.includes(replacement) && !this.#names.includes(name);
      this.#names.push(name);
      this.#values.push(isLatin ? headerText(request.getHeader(name)) : value);
    });
  }

  of(name: string): string {
    const at = this.#names.indexOf(name);
    return at === -1 ? '' : (this.#values[at] ?? '');
  }

  /** Name of a header that came twice with different values; null when there is none. */
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
