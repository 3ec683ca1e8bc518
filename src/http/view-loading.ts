/** Reads views and everything that they reference, breadth first, in batches (contract section 5). */
import { ProblemError, problems } from '../contract/errors.ts';
import { deliveryBodyBytesMax, deliveryReferencesMax } from '../contract/limits.ts';
import type { Store } from '../store/store.ts';
import type { EnvironmentScope, StoredBody, ViewTarget } from '../store/types.ts';
import { type BodyHead, decodeBody, placeOfView } from '../store/views.ts';
import type { LoadedView } from './render.ts';

/** Views of one read: while the size of views is unknown few are read at once, so that a read's memory stays bounded. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;

const nobody = () => {};

/** A view that will probably be part of an answer. */
export interface ForeseenView {
  readonly target: ViewTarget;
  /** Of its body when it was last read; null: it had no references, or too many to remember. */
  readonly head: BodyHead | null;
  /** Of its subject. */
  readonly key: string;
}

/** A view that is part of the answer, or may be. */
export interface KnownView {
  readonly target: ViewTarget;
  head: BodyHead | null;
  /** Of its subject, when it was foreseen. */
  key: string | null;
  /** Undefined before it was read; null: there is none. */
  stored: Buffer | null | undefined;
  /** It was asked for, or a view of the answer refers to it. */
  isMet: boolean;
  /** Null until it is part of the answer. */
  loaded: LoadedView | null;
}

/** The views of one answer. */
export class LoadedViews {
  readonly #views = new Map<string, KnownView>();
  readonly #met: KnownView[] = [];
  #loaded = 0;
  #bytes = 0;

  /** @param onRead called with every read of the store, in its turn of the event loop */
  constructor(private readonly onRead: () => void = nobody) {}

  /** Everything that was read, found or missing: what a cached answer depends on (design promise 10). */
  get met(): readonly KnownView[] {
    return this.#met;
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(target.field)?.loaded ?? null;
  }

  /** Takes in views that may be asked for. @param stored as they were read, from `at` on */
  putAhead(foreseen: readonly ForeseenView[], stored: readonly (Buffer | null)[], at: number): void {
    for (let index = 0; index < foreseen.length; index += 1) {
      const one = foreseen[index];
      if (one === undefined) continue;
      const view = this.#known(one.target);
      view.stored = stored[at + index] ?? null;
      view.head = one.head;
      view.key = one.key;
    }
  }

  /**
   * Loads targets and, through their references, all they can reach. Every view reached is part of the answer at least
   * once, so an answer that would break its limits is known before all is read.
   * @returns null when all of it had been read ahead
   * @throws StoreUnavailableError; ProblemError `answerTooLarge`, `tooManyReferences`
   */
  load(store: Store, scope: EnvironmentScope, targets: readonly ViewTarget[]): Promise<void> | null {
    const waiting: KnownView[] = [];
    for (const target of targets) this.#meet(target, waiting);
    const viewsAllowed = waiting.length + deliveryReferencesMax;
    const taken = this.#takeRead(waiting, viewsAllowed);
    return taken === waiting.length ? null : this.#readOn(store, scope, { waiting, taken, viewsAllowed });
  }

  /** @returns how many of those that wait had been read, and are part of the answer now */
  #takeRead(waiting: KnownView[], viewsAllowed: number): number {
    let taken = 0;
    for (let view = waiting[0]; view !== undefined && view.stored !== undefined; view = waiting[taken]) {
      this.#take(view, waiting);
      taken += 1;
      if (waiting.length > viewsAllowed) throw new ProblemError(problems.tooManyReferences);
    }
    return taken;
  }

  async #readOn(
    store: Store,
    scope: EnvironmentScope,
    { waiting, taken, viewsAllowed }: { waiting: KnownView[]; taken: number; viewsAllowed: number },
  ): Promise<void> {
    for (let from = taken; from < waiting.length; ) {
      if (waiting.length > viewsAllowed) throw new ProblemError(problems.tooManyReferences);
      const batch = waiting.slice(from, from + this.#batchSize());
      from += batch.length;
      const missing = batch.filter(({ stored }) => stored === undefined);
      if (missing.length > 0) {
        const reading = store.fields.read(missing.map(({ target }) => placeOfView(store, scope, target)));
        this.onRead();
        const stored = await reading;
        missing.forEach((view, index) => {
          view.stored = stored[index] ?? null;
        });
      }
      for (const view of batch) this.#take(view, waiting);
    }
  }

  /** Makes a view that was read part of the answer; the targets of its references that were not met before wait. */
  #take(view: KnownView, waiting: KnownView[]): void {
    const { stored, target } = view;
    if (!stored) return;
    const body = decodeBody(stored, view.head);
    view.loaded = { key: target.field, body };
    this.#count(body);
    for (const reference of body.references) {
      if (reference.target !== null) this.#meet(reference.target, waiting);
    }
  }

  #meet(target: ViewTarget, waiting: KnownView[]): void {
    const view = this.#known(target);
    if (view.isMet) return;
    view.isMet = true;
    this.#met.push(view);
    waiting.push(view);
  }

  #known(target: ViewTarget): KnownView {
    const known = this.#views.get(target.field);
    if (known !== undefined) return known;
    const view: KnownView = { target, head: null, key: null, stored: undefined, isMet: false, loaded: null };
    this.#views.set(target.field, view);
    return view;
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
