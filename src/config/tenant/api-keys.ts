import { createHash, timingSafeEqual } from 'node:crypto';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { apiKeyCharactersMax } from '../../contract/limits.ts';
import type { Principal } from '../configuration.ts';

const hashedPattern = /^sha256:[0-9a-f]{64}$/i;
/** Characters that an HTTP header transports unchanged. */
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

/** Where a key is. It is kept as long as the key, so it is not a cursor, which would keep the whole file. */
export type KeyPlace = Pick<ConfigIssue, 'file' | 'path'>;

/** A key as a file gives it: its hash, and its place for when another place has it too. */
export interface WrittenKey {
  /** `sha256:<hex>` */
  readonly hash: string;
  readonly at: KeyPlace;
}

/** Said of a key that is taken. */
export const keyGivenTwice = 'this API key is given twice';

/** The mistake of a key that another place has. */
export function issueOfTakenKey({ at }: WrittenKey, first: KeyPlace): ConfigIssue {
  const where = first.file === at.file ? first.path : `${first.path} of ${first.file}`;
  const advice = `${where} has it too: keys are unique over all tenants.`;
  return { file: at.file, path: at.path, message: keyGivenTwice, advice };
}

/**
 * All keys of all tenants (docs/reference/configuration.md "API keys": unique, compared in constant time).
 *
 * A key that comes in is hashed first, which takes the same time for any two texts of one length, and everything after
 * sees the hash alone. The map's lookup may take longer for one hash than for another. But that tells only about the
 * hash of a text that the caller has sent. To come nearer to a valid key, a caller would have to choose texts by their
 * SHA-256, that is, to break it. The last comparison does not stop at the first difference, so nothing relies on the
 * equality of the map.
 *
 * Keys that were proven so are remembered as texts, which spares the hash at every further request. That lookup goes by
 * the engine's hash of the whole text, with a new seed for each process, and compares texts only when the hashes are equal. So
 * a guess that shares its beginning with a key fails as fast as a guess that shares nothing.
 */
export class KeyRing {
  readonly #holders = new Map<string, { readonly hash: Buffer; readonly principal: Principal }>();
  readonly #places = new Map<string, KeyPlace>();
  /** Valid keys, as sent. Invalid keys are never added, so a lookup reveals nothing about them. */
  readonly #proven = new Map<string, Principal>();

  get size(): number {
    return this.#holders.size;
  }

  /** Gives a key to a principal. @returns where the key is already used; null when it was free */
  add(key: WrittenKey, principal: Principal): KeyPlace | null {
    const first = this.#places.get(key.hash);
    if (first !== undefined) return first;
    const hex = key.hash.slice('sha256:'.length);
    this.#places.set(key.hash, key.at);
    this.#holders.set(hex, { hash: Buffer.from(hex, 'hex'), principal });
    return null;
  }

  /** The caller that a key stands for; null for an unknown key. */
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
