/** Short digests: of subjects in announcements, and of stored bytes to see whether they changed. */
import { hash } from 'node:crypto';

export const digestBytes = 8;

/** 8 bytes. Two subjects with one digest cost a needless invalidation, never a missed one. */
export function digestOf(subject: string | Buffer): Buffer {
  return hash('sha256', subject, 'buffer').subarray(0, digestBytes);
}
