/**
 * What `answer-cache.ts` keeps: views of rows, and delivered bodies in every form in which they are sent. Each form is made once, a
 * compressed one when it is first asked for. What that is worth: bench/README.md "Fast paths".
 */

import { strongDigest } from '../../store/codec/digest.ts';
import { type Answer, type HeaderField, jsonType } from '../answer.ts';
import { compressed } from '../content-coding.ts';
import { headLines, headOf } from '../uws/reply.ts';

/** A cacheable response. */
export interface Keepable {
  /** Memory that it takes. */
  readonly bytes: number;
}

type Coding = 'br' | 'gzip';

/** The API key decides the answer too, so shared caches must not mix clients. */
const vary: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const type: HeaderField = ['Content-Type', jsonType];
/** The headers after the tag, for each form. */
const behindTag = {
  notModified: headLines([vary]),
  identity: headLines([vary, type]),
  br: headLines([vary, ['Content-Encoding', 'br'], type]),
  gzip: headLines([vary, ['Content-Encoding', 'gzip'], type]),
} as const;

/** Overhead of each form, besides its lines. */
const headsMax = Object.keys(behindTag).length + 1;

/** An answer of delivery or of a query, tagged (RFC 9110, section 8.8.3). */
export class FinishedAnswer implements Keepable {
  #etag: string | null = null;
  #identity: Answer | null = null;
  #notModified: Answer | null = null;
  /** A promise while the body is being compressed, so requests that come meanwhile wait for it. */
  readonly #coded: Record<Coding, Answer | Promise<Answer> | null> = { br: null, gzip: null };

  /**
   * @param body JSON text in UTF-8
   * @param lines further headers, from `headLines`
   */
  constructor(
    readonly body: Uint8Array,
    private readonly lines = '',
  ) {}

  /** Memory that the answer takes, without its compressed forms. */
  get bytes(): number {
    return this.body.length + this.lines.length * headsMax;
  }

  get etag(): string {
    this.#etag ??= etagOf(this.body);
    return this.#etag;
  }

  /** The answer with the body as it is. */
  identity(): Answer {
    this.#identity ??= {
      status: 200,
      body: this.body,
      contentType: jsonType,
      head: this.#headOf(200, 'identity'),
    };
    return this.#identity;
  }

  /**
   * The answer with its body compressed. The body is compressed once for each coding, however many ask at a time.
   * @param onMade called once for each coding, with the bytes of the compressed body
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
    this.#notModified ??= {
      status: 304,
      body: this.body,
      contentType: jsonType,
      head: this.#headOf(304, 'notModified'),
    };
    return this.#notModified;
  }

  #headOf(status: number, form: keyof typeof behindTag): Uint8Array {
    return headOf(status, `\r\nETag: ${this.etag}${this.lines}${behindTag[form]}`);
  }
}

/** 132 bits. */
const tagCharacters = 22;

/**
 * Weak, because one tag stands for a body in all its content codings. SHA-256, because with a digest that is easy to hit, someone
 * could choose a text whose page keeps its tag after the text is removed.
 */
export function etagOf(body: Uint8Array): string {
  return `W/"${strongDigest(body, tagCharacters)}"`;
}

/** Whether an `If-None-Match` header names the tag, compared weakly (RFC 9110, section 13.1.2). */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

/** The end of a row after its fields: JSON from `,"_views":` on. */
export class RowViews implements Keepable {
  /**
   * @param references that were resolved for it
   * @param subjects keys of the views that were read, found or missing
   */
  constructor(
    readonly text: Buffer,
    readonly references: number,
    readonly subjects: readonly string[],
  ) {}

  get bytes(): number {
    return this.text.length;
  }
}
