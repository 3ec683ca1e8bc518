/** A delivered body in every form that it is sent in, each made once, the compressed ones when they are first asked for. */
import { type Answer, type HeaderField, jsonType } from './answer.ts';
import { etagOf } from './etag.ts';
import { headLines, headOf } from './reply.ts';

type Coding = 'br' | 'gzip';

/** The API key is part of what decides an answer, so shared caches must not mix clients. */
const vary: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const type: HeaderField = ['Content-Type', jsonType];
/** What stands behind the tag, in each form. */
const behindTag = {
  notModified: headLines([vary]),
  identity: headLines([vary, type]),
  br: headLines([vary, ['Content-Encoding', 'br'], type]),
  gzip: headLines([vary, ['Content-Encoding', 'gzip'], type]),
} as const;

/** It is itself the answer with the body as it is: what is asked for most lies nearest. */
export class FinishedAnswer implements Answer {
  readonly status = 200;
  readonly contentType = jsonType;
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly etag: string;
  /** Since the sweep of the cache last passed. Here and not in the cache, so that an answer is all that is looked at. */
  wasAskedFor = false;
  #br: Answer | null = null;
  #gzip: Answer | null = null;

  /** @param body JSON text in UTF-8, copied: head and body lie side by side, for memory is waited for place by place */
  constructor(body: Uint8Array) {
    this.etag = etagOf(body);
    const head = this.#headOf(200, 'identity');
    const bytes = Buffer.concat([head, body]);
    this.head = bytes.subarray(0, head.length);
    this.body = bytes.subarray(head.length);
  }

  get br(): Answer | null {
    return this.#br;
  }

  get gzip(): Answer | null {
    return this.#gzip;
  }

  /** Keeps a compressed form of the body. */
  addCoded(coding: Coding, body: Uint8Array): Answer {
    const answer: Answer = { status: 200, body, contentType: jsonType, head: this.#headOf(200, coding) };
    if (coding === 'br') this.#br = answer;
    else this.#gzip = answer;
    return answer;
  }

  notModified(): Answer {
    return { status: 304, body: '', contentType: jsonType, head: this.#headOf(304, 'notModified') };
  }

  #headOf(status: number, form: keyof typeof behindTag): Uint8Array {
    return headOf(status, `\r\nETag: ${this.etag}${behindTag[form]}`);
  }
}
