/** Digests: short ones for subjects in announcements, strong ones for comparisons and lookups. */
import { hash } from 'node:crypto';
import xxhash from 'xxhash-wasm';

const { h32, h64, h64Raw } = await xxhash();

export const digestBytes = 8;

/** A digest as a number and as bytes, in native byte order, which is little-endian on all platforms of Node.js. */
const word = new BigUint64Array(1);
const wordBytes = new Uint8Array(word.buffer);
const wordBuffer = Buffer.from(word.buffer);

/**
 * 8 bytes. A collision of two subjects causes an extra invalidation, never a missed one. Anyone who chooses ids can construct
 * collisions within a second, so a digest never selects the content of a response: at worst, each of their saves makes fronts
 * recompute a response of another tenant. A stronger digest would leave caches stale while processes of two versions run.
 */
export function digestOf(subject: string | Buffer): Buffer {
  word[0] = typeof subject === 'string' ? h64(subject) : h64Raw(subject);
  return Buffer.from(wordBytes);
}

/**
 * The beginning of a SHA-256 in base64url, 6 bits per character. For cases where a collision could be exploited: it can only be
 * found by brute force.
 */
export function strongDigest(content: string | Uint8Array, characters: number): string {
  return hash('sha256', content, 'base64url').slice(0, characters);
}

/** Finding a collision takes 2^48 attempts. It is short because every output has one. */
const contentDigestBytes = 12;

/**
 * The SHA-256 digest of stored bytes, by which a worker detects changed outputs. With a weak digest, someone could construct a
 * text that stays in a view after its removal.
 */
export function contentDigest(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer').subarray(0, contentDigestBytes);
}

/**
 * True if a record has the digest of the bytes, or their digest in records of earlier versions (`digestOf`), which is shorter.
 */
export function isDigestOf(digest: Buffer, bytes: Buffer): boolean {
  return digest.equals(contentDigest(bytes)) || digest.equals(digestOf(bytes));
}

/** Like `digestOf`, as a string of 8 characters. */
export function digestText(subject: string): string {
  word[0] = h64(subject);
  return wordBuffer.toString('latin1');
}

/** A digest of 32 bits, for cases where collisions are harmless. */
export function digestNumber(text: string): number {
  return h32(text);
}

/** A growing list of digests. */
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

  /** All digests; valid until the next `add`. */
  get bytes(): Buffer {
    return Buffer.from(this.#words.buffer, 0, this.#count * digestBytes);
  }
}
