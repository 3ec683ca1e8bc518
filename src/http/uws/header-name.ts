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
