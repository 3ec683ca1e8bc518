import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { apiKeyCharactersMax } from '../../contract/limits.ts';
import type { Principal } from '../configuration.ts';

const hashedPattern = /^sha256:[0-9a-f]{64}$/i;
/** Characters that HTTP headers transport unchanged. */
export const plainKeyPattern = /^[\x21-\x7e]+$/;

/** Returns `sha256:<hex>` of a plain key. */
export function hashKey(apiKey: string): string {
  return `sha256:${createHash('sha256').update(apiKey).digest('hex')}`;
}

/** True if a key is written as `sha256:…`. */
export function isHashed(written: string): boolean {
  return /^sha256:/i.test(written);
}

/**
 * The hash of a key in a tenant file, which may be plain or hashed; null if it is neither. Such a key could never be sent; the
 * loader reports it.
 */
export function hashedForm(written: string): string | null {
  if (isHashed(written)) return hashedPattern.test(written) ? written.toLowerCase() : null;
  if (written.length > apiKeyCharactersMax || !plainKeyPattern.test(written)) return null;
  return hashKey(written);
}

/** Position of a key. It is not a cursor, because a cursor would keep the whole file in memory. */
export type KeyPlace = Pick<ConfigIssue, 'file' | 'path'>;

/** A key in a file: its hash, and its position for messages about duplicates. */
export interface ConfiguredKey {
  /** `sha256:<hex>` */
  readonly hash: string;
  readonly at: KeyPlace;
}

/** The message for a duplicate key. */
export const keyGivenTwice = 'this API key appears twice';

/** The issue for a key that is already used elsewhere. */
export function issueOfTakenKey({ at }: ConfiguredKey, first: KeyPlace): ConfigIssue {
  const where = first.file === at.file ? first.path : `${first.path} of ${first.file}`;
  const advice = `${where} has it too: keys must be unique across all tenants.`;
  return { file: at.file, path: at.path, message: keyGivenTwice, advice };
}

/**
 * All keys of all tenants (docs/reference/configuration.md "API keys": unique, compared in constant time).
 *
 * A received key is hashed first, which takes the same time for all texts of the same length; everything after that only uses
 * the hash. The time of the map lookup may depend on the hash, but that only reveals something about the hash of the sent text.
 * To get closer to a valid key, a caller would have to choose texts by their SHA-256, which means breaking it. The final
 * comparison takes constant time, so nothing relies on the map's own comparison.
 *
 * Valid keys are then cached as plain text, which saves hashing in later requests. That lookup uses the engine's hash of the
 * whole text, with a random seed per process, and compares texts only if these hashes are equal. So a guess that shares a
 * prefix with a key fails as fast as any other guess.
 */
export class KeyRing {
  readonly #holders = new Map<string, { readonly hash: Buffer; readonly principal: Principal }>();
  readonly #places = new Map<string, KeyPlace>();
  /** Valid keys, as sent. Invalid keys are never added, so a lookup reveals nothing about them. */
  readonly #proven = new Map<string, Principal>();

  get size(): number {
    return this.#holders.size;
  }

  /** Assigns a key to a principal. @returns where the key is already used; null if it was free */
  add(key: ConfiguredKey, principal: Principal): KeyPlace | null {
    const first = this.#places.get(key.hash);
    if (first !== undefined) return first;
    const hex = key.hash.slice('sha256:'.length);
    this.#places.set(key.hash, key.at);
    this.#holders.set(hex, { hash: Buffer.from(hex, 'hex'), principal });
    return null;
  }

  /** The caller of a key; null for an unknown key. */
  authenticate(apiKey: string): Principal | null {
    const proven = this.#proven.get(apiKey);
    if (proven !== undefined) return proven;
    if (apiKey.length > apiKeyCharactersMax) return null;
    const hash = createHash('sha256').update(apiKey).digest();
    const holder = this.#holders.get(hash.toString('hex'));
    if (holder === undefined || !timingSafeEqual(holder.hash, hash)) return null;
    this.#proven.set(apiKey, holder.principal);
    return holder.principal;
  }
}
