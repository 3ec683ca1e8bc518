/** Reads views and everything that they reference, breadth first, in batches (contract section 5). */
import { ProblemError, problems } from '../contract/errors.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../contract/limits.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentScope, StoredBody, ViewTarget } from '../store/types.ts';
import { decodeBody, placeOfView } from '../store/views.ts';
import type { LoadedView } from './render.ts';

/** Views of one read: while the size of views is unknown few are read at once, so that a read's memory stays bounded. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;

const nobody = () => {};

/** The views of one answer. */
export class LoadedViews {
  /** Null: asked for, and there is none. */
  readonly #views = new Map<string, LoadedView | null>();
  /** Read before anybody knew whether they are part of the answer. */
  readonly #ahead = new Map<string, Buffer | null>();
  readonly #targets: ViewTarget[] = [];
  #loaded = 0;
  #bytes = 0;

  /** @param onRead called with every read of the store, in its turn of the event loop */
  constructor(private readonly onRead: () => void = nobody) {}

  /** Everything that was read, found or missing: what a cached answer depends on (design promise 10). */
  get targets(): readonly ViewTarget[] {
    return this.#targets;
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(target.field) ?? null;
  }

  /** Takes in views that may be asked for. @param stored as they were read, from `at` on */
  putAhead(targets: readonly ViewTarget[], stored: readonly (Buffer | null)[], at: number): void {
    for (let index = 0; index < targets.length; index += 1) {
      const target = targets[index];
      if (target !== undefined) this.#ahead.set(target.field, stored[at + index] ?? null);
    }
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
      const missing = batch.filter(({ field }) => !this.#ahead.has(field));
      if (missing.length > 0) {
        const reading = store.fields.read(missing.map((target) => placeOfView(store, scope, target)));
        this.onRead();
        this.putAhead(missing, await reading, 0);
      }
      for (const target of batch) waiting.push(...this.#take(target));
    }
  }

  /** Makes a view that was read part of the answer. @returns the targets of its references that were not met before */
  #take(target: ViewTarget): readonly ViewTarget[] {
    const key = target.field;
    const stored = this.#ahead.get(key) ?? null;
    if (stored === null) return [];
    const body = decodeBody(stored);
    this.#views.set(key, { key, body });
    this.#count(body);
    return body.references.length === 0 ? [] : this.#unknown(targetsOf(body));
  }

  /** Targets not met before; they are marked as met. */
  #unknown(targets: readonly ViewTarget[]): ViewTarget[] {
    const unknown: ViewTarget[] = [];
    for (const target of targets) {
      if (this.#views.has(target.field)) continue;
      this.#views.set(target.field, null);
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
