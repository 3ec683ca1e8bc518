import { createHash } from 'node:crypto';
import { apiKeyCharactersMax } from '../../contract/limits.ts';

const hashedPattern = /^sha256:[0-9a-f]{64}$/i;
/** What an HTTP header carries unchanged. */
export const plainKeyPattern = /^[\x21-\x7e]+$/;

/** `sha256:<hex>` of a key's text. */
export function hashKey(apiKey: string): string {
  return `sha256:${createHash('sha256').update(apiKey).digest('hex')}`;
}

/** Whether a key is written as `sha256:…`. */
export function isHashed(written: string): boolean {
  return /^sha256:/i.test(written);
}

/**
 * The hashed form of a key as a tenant file writes it, plain or hashed; null when it is neither. Nobody could send
 * such a key, and the loader reports it.
 */
export function hashedForm(written: string): string | null {
  if (isHashed(written)) return hashedPattern.test(written) ? written.toLowerCase() : null;
  if (written.length > apiKeyCharactersMax || !plainKeyPattern.test(written)) return null;
  return hashKey(written);
}
