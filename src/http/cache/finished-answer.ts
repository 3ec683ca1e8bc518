/**
 * The values of `answer-cache.ts`: views of rows, and bodies of delivery and of queries in every form in which they are sent.
 * Each form is made once, when it is first requested. Measurements: bench/README.md "Fast paths".
 */

import { strongDigest } from '../../store/codec/digest.ts';
import { type Answer, type HeaderField, jsonType } from '../answer.ts';
import { compressed } from '../content-coding.ts';
import { headLines, headOf } from '../uws/reply.ts';

/** A cacheable response. */
export interface Keepable {
  /** Memory that it takes, in bytes. */
  readonly bytes: number;
}

type Coding = 'br' | 'gzip';

/** The answer also depends on the API key, so shared caches must not mix clients. */
const vary: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const type: HeaderField = ['Content-Type', jsonType];
/** The header lines after `ETag`, for each form. */
const linesAfterTag = {
  notModified: headLines([vary]),
  identity: headLines([vary, type]),
  br: headLines([vary, ['Content-Encoding', 'br'], type]),
  gzip: headLines([vary, ['Content-Encoding', 'gzip'], type]),
} as const;

/** Number of forms, each of which holds the lines, and one for the lines themselves. */
const headsMax = Object.keys(linesAfterTag).length + 1;

/** An answer of delivery or of a query, with its entity tag (RFC 9110, section 8.8.3). */
export class FinishedAnswer implements Keepable {
  #etag: string | null = null;
  #identity: Answer | null = null;
  #notModified: Answer | null = null;
  /** A promise while the body is being compressed, so concurrent requests share one compression. */
  readonly #coded: Record<Coding, Answer | Promise<Answer> | null> = { br: null, gzip: null };

  /**
   * @param body JSON text in UTF-8
   * @param lines further headers, from `headLines`
   */
  constructor(
    readonly body: Uint8Array,
    private readonly lines = '',
  ) {}

  /** Memory of the answer in bytes, without its compressed forms. */
  get bytes(): number {
    return this.body.length + this.lines.length * headsMax;
  }

  get etag(): string {
    this.#etag ??= etagOf(this.body);
    return this.#etag;
  }

  /** The answer with its body uncompressed. */
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
   * The answer with its body compressed, once for each coding.
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

  #headOf(status: number, form: keyof typeof linesAfterTag): Uint8Array {
    return headOf(status, `\r\nETag: ${this.etag}${this.lines}${linesAfterTag[form]}`);
  }
}

/** 132 bits. */
const tagCharacters = 22;

/**
 * Weak, because all content codings of a body share one tag. SHA-256, because with a digest that is easy to collide, someone
 * could choose a text whose page keeps its tag when the text is removed.
 */
export function etagOf(body: Uint8Array): string {
  return `W/"${strongDigest(body, tagCharacters)}"`;
}

/** Whether an `If-None-Match` header includes the tag, by weak comparison (RFC 9110, section 13.1.2). */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === '') return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === opaque);
}

/** The end of a row, after its fields: JSON text that begins with `,"_views":`. */
export class RowViews implements Keepable {
  /**
   * @param references number of references that were resolved for it
   * @param subjects keys of all views that were read, also of missing ones
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
