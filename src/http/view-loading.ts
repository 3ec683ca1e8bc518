/** Reads views and everything that they reference, breadth first, in batches (contract section 5). */
import { ProblemError, problems } from '../contract/errors.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../contract/limits.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentScope, StoredBody, StoredReference } from '../store/types.ts';
import { readViews } from '../store/views.ts';
import type { LoadedView } from './render.ts';

export type ViewTarget = NonNullable<StoredReference['target']>;

/** Views of one read: while the size of views is unknown few are read at once, so that a read's memory stays bounded. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;

/** Text that tells views of one environment apart. */
export function viewKey({ sourceId, alias, originId }: ViewTarget): string {
  return `${sourceId}:${alias}:${originId}`;
}

/** The views of one answer. */
export class LoadedViews {
  /** Null: asked for, and there is none. */
  readonly #views = new Map<string, LoadedView | null>();
  readonly #targets: ViewTarget[] = [];
  #loaded = 0;
  #bytes = 0;

  /** Everything that was read, found or missing: what a cached answer depends on (design promise 10). */
  get targets(): readonly ViewTarget[] {
    return this.#targets;
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(viewKey(target)) ?? null;
  }

  /**
   * Loads targets and, through their references, all they can reach. Every view reached is part of the answer at least
   * once, so an answer that would break its limits is known before all is read.
   * @throws StoreUnavailableError; ProblemError `answerTooLarge`, `tooManyReferences`
   */
  async load(store: Store, scope: EnvironmentScope, targets: readonly ViewTarget[]): Promise<void> {
    const asked = this.#unknown(targets);
    const waiting = [...asked];
    const referencesAllowed = asked.length + deliveryReferencesMax;
    for (let from = 0; from < waiting.length; ) {
      if (waiting.length > referencesAllowed) throw new ProblemError(problems.tooManyReferences);
      const batch = waiting.slice(from, from + this.#batchSize());
      from += batch.length;
      const bodies = await readViews(store, scope, batch);
      batch.forEach((target, index) => {
        const body = bodies[index] ?? null;
        const key = viewKey(target);
        this.#views.set(key, body === null ? null : { key, body });
        if (body === null) return;
        this.#count(body);
        for (const next of this.#unknown(targetsOf(body))) waiting.push(next);
      });
    }
  }

  /** Targets not met before; they are marked as met. */
  #unknown(targets: readonly ViewTarget[]): ViewTarget[] {
    const unknown: ViewTarget[] = [];
    for (const target of targets) {
      const key = viewKey(target);
      if (this.#views.has(key)) continue;
      this.#views.set(key, null);
      this.#targets.push(target);
      unknown.push(target);
    }
    return unknown;
  }

  #batchSize(): number {
    if (this.#loaded === 0) return batchFirst;
    const fitting = Math.floor(deliveryBodyBytesMax / (this.#bytes / this.#loaded + 1));
    return Math.min(batchMax, Math.max(batchMin, fitting));
  }

  #count({ texts }: StoredBody): void {
    this.#loaded += 1;
    for (const text of texts) this.#bytes += text.length;
    if (this.#bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
  }
}

function targetsOf({ references }: StoredBody): ViewTarget[] {
  return references.flatMap(({ target }) => (target === null ? [] : [target]));
}
