/**
 * Views that others refer to, until they change. Thousands of pages show the same country or author, and each of them would
 * read it again. A view that was asked for itself is not kept here, but in its answer (`answer-cache.ts`).
 */
import { inlineViewBytesMax } from '../../contract/limits.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { decodeBody, type StoredBody } from '../../store/derived/stored-body.ts';
import { ReceivedChanges } from './received-changes.ts';

/** A view as it was read. */
export interface ReadView {
  /** Key of its subject, as the changes streams announce it. */
  readonly subject: string;
  readonly sourceId: string;
  /** From `encodeBody`. */
  readonly stored: Buffer;
}

interface Kept {
  readonly body: StoredBody;
  readonly bytes: number;
}

/** Memory that a view takes besides its bytes, and that a reference in it takes, roughly. */
const [viewBytes, referenceBytes] = [500, 400];

export class KeptViews {
  readonly #heard = new ReceivedChanges();
  readonly #views: BoundedCache<string, Kept>;

  /** @param bytesMax bound on the memory of all views; 0: none is kept */
  constructor(bytesMax: number) {
    this.#views = new BoundedCache({
      entriesMax: Number.POSITIVE_INFINITY,
      weightMax: bytesMax,
      weigh: ({ bytes }) => bytes,
    });
  }

  get bytes(): number {
    return this.#views.weight;
  }

  /** A kept view, at least as new as the last change that this front has received; null when none is kept. */
  find(subject: string): StoredBody | null {
    return this.#views.get(subject)?.body ?? null;
  }

  /** Notes that views are about to be read; `end` must follow. @returns for `keep` */
  begin(): number {
    return this.#heard.begin();
  }

  end(): void {
    this.#heard.end();
  }

  /** Keeps views, unless they have changed since. @param beganAt from `begin`, before they were read */
  keep(beganAt: number, views: readonly ReadView[]): void {
    for (const view of views) {
      if (view.stored.length > inlineViewBytesMax) continue;
      if (this.#heard.hasChangedSince(beganAt, [view.subject])) continue;
      this.#views.set(view.subject, kept(view));
    }
  }

  /** Drops what has changed. @param subjects as `Progress` tells them; null when anything may have changed */
  invalidate(subjects: readonly string[] | null): void {
    this.#heard.note(subjects);
    if (subjects === null) this.#views.clear();
    else for (const subject of subjects) this.#views.delete(subject);
  }

  /** Drops everything. A view that is being read will not be kept. */
  empty(): void {
    this.invalidate(null);
  }
}

/** In memory of its own: what was read is a part of everything that came from Redis with it. */
function kept({ stored, sourceId }: ReadView): Kept {
  const own = Buffer.allocUnsafeSlow(stored.length);
  own.set(stored);
  const body = decodeBody(own, sourceId);
  return { body, bytes: own.length + viewBytes + body.references.length * referenceBytes };
}
