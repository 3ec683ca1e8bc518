/** A delivered body in every form that it is sent in, each made once, the compressed ones when they are first asked for. */
import { smallAnswerBytesMax } from '../../contract/limits.ts';
import { type Answer, type HeaderField, jsonType } from '../answer.ts';
import { headLines, headOf } from '../uws/reply.ts';
import { compressed } from './content-coding.ts';
import { etagOf } from './etag.ts';

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
  /** A promise while it is being compressed: whoever asks meanwhile waits for the one that is under way. */
  readonly #coded: Record<Coding, Answer | Promise<Answer> | null> = { br: null, gzip: null };

  /** @param body JSON text in UTF-8; a small one is copied: head and body lie side by side, for memory is waited for place by place */
  constructor(body: Uint8Array) {
    this.etag = etagOf(body);
    const head = this.#headOf(200, 'identity');
    if (body.length > smallAnswerBytesMax) {
      this.head = head;
      this.body = body;
      return;
    }
    const bytes = Buffer.concat([head, body]);
    this.head = bytes.subarray(0, head.length);
    this.body = bytes.subarray(head.length);
  }

  /**
   * The answer with its body compressed, once for each coding, however many ask at a time.
   * @param onMade called once for each coding, with the bytes that this answer has taken in
   */
  coded(coding: Coding, onMade: (bytes: number) => void): Answer | Promise<Answer> {
    this.#coded[coding] ??= this.#code(coding, onMade);
    return this.#coded[coding];
  }

  async #code(coding: Coding, onMade: (bytes: number) => void): Promise<Answer> {
    try {
      const body = await compressed(this.body, coding);
      const answer: Answer = { status: 200, body, contentType: jsonType, head: this.#headOf(200, coding) };
      this.#coded[coding] = answer;
      onMade(body.length);
      return answer;
    } catch (error) {
      this.#coded[coding] = null;
      throw error;
    }
  }

  notModified(): Answer {
    return { status: 304, body: this.body, contentType: jsonType, head: this.#headOf(304, 'notModified') };
  }

  #headOf(status: number, form: keyof typeof behindTag): Uint8Array {
    return headOf(status, `\r\nETag: ${this.etag}${behindTag[form]}`);
  }
}
