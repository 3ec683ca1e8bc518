/** Headers of a request, asked for by name. */
import type { HttpRequest } from 'uWebSockets.js';

/**
 * A name as uWebSockets.js takes it: of a text the library would make bytes again with each request, which takes as long as
 * to look for the header.
 */
export class HeaderName {
  readonly #bytes: ArrayBuffer;

  /** @param text lower-cased */
  constructor(readonly text: string) {
    this.#bytes = new Uint8Array(Buffer.from(text)).buffer;
  }

  /** What a request has under this name, with one character for each byte; '' when it has none. */
  of(request: Pick<HttpRequest, 'getHeader'>): string {
    return request.getHeader(this.#bytes);
  }
}

/**
 * Headers that a request must not have twice. A proxy and this server could each take another one of them: two lengths hide a
 * request in a body, and two keys or hosts let one side check what the other does not use (RFC 9112, sections 3.2 and 6.3).
 * uWebSockets.js gives the first one without a word. Name as the library gives it -> name as we write it.
 */
const singleHeaders: ReadonlyMap<string, string> = new Map([
  ['content-length', 'Content-Length'],
  ['host', 'Host'],
  ['x-api-key', 'X-Api-Key'],
  ['authorization', 'Authorization'],
]);

/** Name of the first header that came twice with different values; null when there is none. */
export function repeatedHeader(request: Pick<HttpRequest, 'forEach'>): string | null {
  const values = new Map<string, string>();
  let repeated: string | null = null;
  request.forEach((name, value) => {
    const shown = singleHeaders.get(name);
    if (shown === undefined) return;
    const first = values.get(name);
    if (first === undefined) values.set(name, value);
    else if (first !== value) repeated ??= shown;
  });
  return repeated;
}
