/** Digests: short ones of subjects in announcements, strong ones by which something is compared or found. */
import { hash } from 'node:crypto';
import xxhash from 'xxhash-wasm';

const { h32, h64, h64Raw } = await xxhash();

export const digestBytes = 8;

/** One digest, as a number and as bytes: little-endian, as on every machine that Node.js runs on. */
const word = new BigUint64Array(1);
const wordBytes = new Uint8Array(word.buffer);
const wordBuffer = Buffer.from(word.buffer);

/**
 * 8 bytes. Two subjects with one digest cost a needless invalidation, never a missed one. Anyone who chooses ids can make such
 * subjects in a second, so a digest alone never selects what is sent: their changes make fronts compute answers of another
 * tenant again, no more often than they save. A stronger one would leave caches stale while processes of two versions run.
 */
export function digestOf(subject: string | Buffer): Buffer {
  word[0] = typeof subject === 'string' ? h64(subject) : h64Raw(subject);
  return Buffer.from(wordBytes);
}

/**
 * The beginning of a SHA-256 in base64url, 6 bits for each character. For what anyone could gain from who chooses a text: nothing
 * but trying finds another one with the same beginning.
 */
export function strongDigest(content: string | Uint8Array, characters: number): string {
  return hash('sha256', content, 'base64url').slice(0, characters);
}

/** To find two texts with one digest takes 2^48 tries. Every output keeps one. */
const contentDigestBytes = 12;

/**
 * The digest of stored bytes, by which a worker sees whether an output has changed, of SHA-256. With one that is
 * easy to hit, someone could choose a text that stays in a view after it was removed.
 */
export function contentDigest(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer').subarray(0, contentDigestBytes);
}

/** Whether a record has the digest of the bytes, or the one that records had before (`digestOf`), which is shorter than any of now. */
export function isDigestOf(digest: Buffer, bytes: Buffer): boolean {
  return digest.equals(contentDigest(bytes)) || digest.equals(digestOf(bytes));
}

/** As `digestOf`, as a text of 8 characters. */
export function digestText(subject: string): string {
  word[0] = h64(subject);
  return wordBuffer.toString('latin1');
}

/** A digest of 32 bits, where two that are equal do no harm. */
export function digestNumber(text: string): number {
  return h32(text);
}

/** Digests of many subjects, one after the other. */
export class DigestList {
  #words = new BigUint64Array(64);
  #count = 0;

  add(subject: string): void {
    if (this.#count === this.#words.length) {
      const larger = new BigUint64Array(this.#count * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[this.#count] = h64(subject);
    this.#count += 1;
  }

  /** All of them as they are now; valid until the next `add`. */
  get bytes(): Buffer {
    return Buffer.from(this.#words.buffer, 0, this.#count * digestBytes);
  }
}
