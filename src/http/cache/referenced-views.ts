/**
 * Caches views that others refer to until they change. Thousands of pages show the same country or author, and each of them
 * would read it again. A requested view itself is always read.
 */
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { decodeBody, type StoredBody, type ViewTarget } from '../../store/derived/stored-body.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { ReceivedChanges } from './received-changes.ts';

/** A view that a view of an answer refers to. */
export interface ReferencedView {
  readonly scope: EnvironmentScope;
  readonly target: ViewTarget;
  /** Key of its subject, as the changes streams announce it. */
  readonly subject: string;
}

/** As it was read. */
export interface ReadView extends ReferencedView {
  /** From `encodeBody`. */
  readonly stored: Buffer;
}

interface Cached {
  readonly identity: string;
  readonly body: StoredBody;
  readonly bytes: number;
}

/** Memory that a view takes besides its bytes, and that a reference in it takes besides its names, roughly. */
const [viewBytes, referenceBytes] = [500, 400];
/** Names are held as a text of their own and within the identity of their target, with up to 2 bytes for a character. */
const bytesPerNameCharacter = 4;

export class ReferencedViewCache {
  readonly #received = new ReceivedChanges();
  /** By subject. That is a digest which a tenant can hit on purpose, so each entry has the whole identity of its view. */
  readonly #views: BoundedCache<string, Cached>;

  /** @param bytesMax bound on the memory of all views; 0: none is cached */
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

  /** A view at least as new as the last change that this front has received; null when none is cached. */
  find(view: ReferencedView): StoredBody | null {
    const cached = this.#views.get(view.subject);
    return cached !== undefined && cached.identity === identityOf(view) ? cached.body : null;
  }

  /** Notes that views are about to be read; `end` must follow. @returns for `add` and `hasChangedSince` */
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

  /** Caches views, unless they have changed since. @param beganAt from `begin`, before they were read */
  add(beganAt: number, views: readonly ReadView[]): void {
    for (const view of views) {
      if (view.stored.length > inlineViewBytesMax || this.find(view) !== null) continue;
      if (!this.#received.hasChangedSince(beganAt, [view.subject]))
        this.#views.set(view.subject, cached(view));
    }
  }

  /** Evicts what has changed. @param subjects from `Progress`; null when anything may have changed */
  invalidate(subjects: readonly string[] | null): void {
    this.#received.note(subjects);
    if (subjects === null) this.#views.clear();
    else for (const subject of subjects) this.#views.delete(subject);
  }

  /** Drops everything. A view that is being read will not be cached. */
  empty(): void {
    this.invalidate(null);
  }
}

/** A text of its own: the ids themselves can be parts of a text with all names of the view that refers to this one. */
function identityOf({ scope, target }: ReferencedView): string {
  const { tenant, environmentId } = scope;
  return JSON.stringify([tenant, environmentId, target.sourceId, target.alias, target.originId]);
}

/** In memory of its own: what was read is a part of everything that came from Redis with it. */
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
