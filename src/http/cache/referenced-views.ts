/**
 * Caches referenced views until they change. Thousands of pages show the same country or author, and each of them would read it
 * again. The requested view itself is always read from the store.
 */
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { decodeBody, type StoredBody, type ViewTarget } from '../../store/derived/stored-body.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import { ReceivedChanges } from './received-changes.ts';

/** A view that another view of an answer references. */
export interface ReferencedView {
  readonly scope: EnvironmentScope;
  readonly target: ViewTarget;
  /** Key of its subject in the changes streams. */
  readonly subject: string;
}

/** A referenced view with the bytes that were read. */
export interface ReadView extends ReferencedView {
  /** From `encodeBody`. */
  readonly stored: Buffer;
}

interface Cached {
  readonly identity: string;
  readonly body: StoredBody;
  readonly bytes: number;
}

/** Approximate overhead in bytes of a view, besides its body, and of a reference in it, besides its names. */
const [viewBytes, referenceBytes] = [500, 400];
/** Each name is held twice, by itself and in the identity of its target, with up to 2 bytes per character. */
const bytesPerNameCharacter = 4;

export class ReferencedViewCache {
  readonly #received = new ReceivedChanges();
  /**
   * By subject. Subjects are digests for which a tenant can construct collisions, so each entry has the whole identity of its
   * view.
   */
  readonly #views: BoundedCache<string, Cached>;

  /** @param bytesMax bound on the memory of all views; 0 turns the cache off */
  constructor(bytesMax: number) {
    this.#views = new BoundedCache({
      entriesMax: Number.POSITIVE_INFINITY,
      weightMax: bytesMax,
      weigh: ({ bytes }) => bytes,
    });
  }

  get entries(): number {
    return this.#views.size;
  }

  get bytes(): number {
    return this.#views.weight;
  }

  /** The cached view, at least as new as the last change that this front has received, or null. */
  find(view: ReferencedView): StoredBody | null {
    const cached = this.#views.get(view.subject);
    return cached !== undefined && cached.identity === identityOf(view) ? cached.body : null;
  }

  /** Must be called before views are read; `end` must follow. @returns a value for `add` and `hasChangedSince` */
  begin(): number {
    return this.#received.begin();
  }

  end(): void {
    this.#received.end();
  }

  /** @param beganAt from `begin`; not ended yet */
  hasChangedSince(beganAt: number, subjects: readonly string[]): boolean {
    return this.#received.hasChangedSince(beganAt, subjects);
  }

  /** Caches those views that have not changed since they were read. @param beganAt from `begin`, before they were read */
  add(beganAt: number, views: readonly ReadView[]): void {
    for (const view of views) {
      if (view.stored.length > inlineViewBytesMax || this.find(view) !== null) continue;
      if (!this.#received.hasChangedSince(beganAt, [view.subject]))
        this.#views.set(view.subject, cached(view));
    }
  }

  /** Evicts changed views. @param subjects from `Progress`; null when anything may have changed */
  invalidate(subjects: readonly string[] | null): void {
    this.#received.add(subjects);
    if (subjects === null) this.#views.clear();
    else for (const subject of subjects) this.#views.delete(subject);
  }

  /** Evicts everything. A view that is being read will not be cached. */
  empty(): void {
    this.invalidate(null);
  }
}

/**
 * A new string: the ids themselves can be slices of a string with all names of the referring view, and would keep it in memory.
 */
function identityOf({ scope, target }: ReferencedView): string {
  const { tenant, environmentId } = scope;
  return JSON.stringify([tenant, environmentId, target.sourceId, target.alias, target.originId]);
}

/** Copies the bytes: they are a slice of a larger reply from Redis, which would stay in memory. */
function cached(view: ReadView): Cached {
  const { target, stored } = view;
  const own = Buffer.allocUnsafeSlow(stored.length);
  own.set(stored);
  const body = decodeBody(own, target.sourceId);
  const identity = identityOf(view);
  let bytes = own.length + viewBytes + 2 * identity.length;
  for (const { target: other, path } of body.references) {
    const characters = (other?.identity.length ?? 0) + path.length;
    bytes += referenceBytes + characters * bytesPerNameCharacter;
  }
  return { identity, body, bytes };
}
