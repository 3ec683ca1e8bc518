/** A delivered body in every form that it is sent in, each made once, the compressed ones when they are first asked for. */
import { type Answer, jsonType } from './answer.ts';
import { etagOf } from './etag.ts';

/** The API key is part of what decides an answer, so shared caches must not mix clients. */
const vary = 'Vary: Accept-Encoding, X-Api-Key';
/**
 * Behind the value of the ETag: uWebSockets.js writes a value as it is, so other headers can stand in it, and handing
 * over one text instead of six is a good part of what a cached answer costs.
 */
const others = {
  notModified: `\r\n${vary}`,
  identity: `\r\n${vary}\r\nContent-Type: ${jsonType}`,
  br: `\r\n${vary}\r\nContent-Encoding: br\r\nContent-Type: ${jsonType}`,
  gzip: `\r\n${vary}\r\nContent-Encoding: gzip\r\nContent-Type: ${jsonType}`,
} as const;

export class FinishedAnswer {
  readonly etag: string;
  readonly identity: Answer;
  #br: Answer | null = null;
  #gzip: Answer | null = null;

  /** @param body JSON text in UTF-8 */
  constructor(readonly body: Uint8Array) {
    this.etag = etagOf(body);
    this.identity = this.#found(body, 'identity');
  }

  get br(): Answer | null {
    return this.#br;
  }

  get gzip(): Answer | null {
    return this.#gzip;
  }

  /** Keeps a compressed form of the body. */
  addCoded(coding: 'br' | 'gzip', body: Uint8Array): Answer {
    const answer = this.#found(body, coding);
    if (coding === 'br') this.#br = answer;
    else this.#gzip = answer;
    return answer;
  }

  notModified(): Answer {
    return { status: 304, body: '', contentType: jsonType, head: ['ETag', this.etag + others.notModified] };
  }

  #found(body: Uint8Array, coding: 'identity' | 'br' | 'gzip'): Answer {
    return { status: 200, body, contentType: jsonType, head: ['ETag', this.etag + others[coding]] };
  }
}
