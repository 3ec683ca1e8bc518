/** A delivered body in every form that it is sent in, each made once, the compressed ones when they are first asked for. */
import { type Answer, type HeaderField, jsonType } from './answer.ts';
import { etagOf } from './etag.ts';
import { headOf } from './reply.ts';

type Coding = 'br' | 'gzip';

/** The API key is part of what decides an answer, so shared caches must not mix clients. */
const vary: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const type: HeaderField = ['Content-Type', jsonType];

/** It is itself the answer with the body as it is: what is asked for most lies nearest. */
export class FinishedAnswer implements Answer {
  readonly status = 200;
  readonly contentType = jsonType;
  readonly head: Uint8Array;
  readonly etag: string;
  #br: Answer | null = null;
  #gzip: Answer | null = null;

  /** @param body JSON text in UTF-8 */
  constructor(readonly body: Uint8Array) {
    this.etag = etagOf(body);
    this.head = headOf(200, [this.#tag, vary, type]);
  }

  get br(): Answer | null {
    return this.#br;
  }

  get gzip(): Answer | null {
    return this.#gzip;
  }

  /** Keeps a compressed form of the body. */
  addCoded(coding: Coding, body: Uint8Array): Answer {
    const head = headOf(200, [this.#tag, vary, ['Content-Encoding', coding], type]);
    const answer: Answer = { status: 200, body, contentType: jsonType, head };
    if (coding === 'br') this.#br = answer;
    else this.#gzip = answer;
    return answer;
  }

  notModified(): Answer {
    return { status: 304, body: '', contentType: jsonType, head: headOf(304, [this.#tag, vary]) };
  }

  get #tag(): HeaderField {
    return ['ETag', this.etag];
  }
}
