/** Short digests: of subjects in announcements, and of stored bytes to see whether they changed. */
import xxhash from 'xxhash-wasm';

const { h64, h64Raw } = await xxhash();

export const digestBytes = 8;

/**
 * 8 bytes. Two subjects with one digest cost a needless invalidation, never a missed one. Stored bytes are compared with
 * what the same entity had before, so only chance could make two of them alike.
 */
export function digestOf(subject: string | Buffer): Buffer {
  const digest = Buffer.allocUnsafe(digestBytes);
  digest.writeBigUInt64LE(typeof subject === 'string' ? h64(subject) : h64Raw(subject));
  return digest;
}
