/** Reads views and everything that they reference, breadth first, in batches (contract section 5). */
import { ProblemError, problems } from '../../contract/errors.ts';
import {
  deliveryBodyBytesMax,
  deliveryReferencesMax,
  freeAnswerBytesMax,
  viewBatchBytesMax,
} from '../../contract/limits.ts';
import type { StoredBody, ViewTarget } from '../../store/derived/stored-body.ts';
import { type BodyHead, bytesApart, decodeBody } from '../../store/derived/stored-body.ts';
import { placeApart, placeOfView } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { EndOfTurn, LargeAnswers } from './large-answers.ts';
import type { LoadedView } from './render.ts';

/** Views of one read: while their size is unknown few are read at once. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;
/** Reads of a large view that changes while it is read. */
const attemptsMax = 5;

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

/** Whether the view has been read, and all of it. */
function isWhole({ stored }: KnownView): boolean {
  return stored !== undefined && (stored === null || bytesApart(stored) === null);
}

/** The views of one answer. */
export class LoadedViews {
  readonly #views = new Map<string, KnownView>();
  readonly #met: KnownView[] = [];
  #loaded = 0;
  #bytes = 0;

  /** Null until the answer needs more than every answer may. */
  #turn: EndOfTurn | null = null;

  /**
   * @param owner whose answer it is
   * @param onRead called with every read of the store, in its turn of the event loop, or when it is done
   */
  constructor(
    private readonly large: LargeAnswers,
    private readonly owner: object,
    private readonly onRead: () => void = nobody,
  ) {}

  /** To be called once the answer is made, whatever came of it. */
  release(): void {
    this.#turn?.();
    this.#turn = null;
  }

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
    for (let view = waiting[0]; view !== undefined && isWhole(view); view = waiting[taken]) {
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
      await this.#readInline(store, scope, batch);
      await this.#readApart(store, scope, batch);
      for (const view of batch) this.#take(view, waiting);
    }
  }

  async #readInline(store: Store, scope: EnvironmentScope, batch: readonly KnownView[]): Promise<void> {
    const missing = batch.filter(({ stored }) => stored === undefined);
    if (missing.length === 0) return;
    if (this.#bytes > freeAnswerBytesMax) await this.#takeTurn();
    const reading = store.fields.read(missing.map(({ target }) => placeOfView(store, scope, target)));
    this.onRead();
    const stored = await reading;
    missing.forEach((view, index) => {
      view.stored = stored[index] ?? null;
    });
  }

  /** Large views one by one, and none of them before it is known that all together are not too much. */
  async #readApart(store: Store, scope: EnvironmentScope, batch: readonly KnownView[]): Promise<void> {
    const large = batch.filter((view) => !isWhole(view));
    if (large.length === 0) return;
    let bytes = this.#bytes;
    for (const { stored } of large) bytes += (stored && bytesApart(stored)) ?? 0;
    if (bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
    if (bytes > freeAnswerBytesMax) await this.#takeTurn();
    for (const view of large) await this.#readBody(store, placeOfView(store, scope, view.target), view);
  }

  /** Between its two reads a view may have changed; then it is looked at again. */
  async #readBody(store: Store, place: HashField, view: KnownView): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax && !isWhole(view); attempt += 1) {
      const [body = null] = await store.large.read([placeApart(place)]);
      view.stored = body ?? (await store.fields.read([place]))[0] ?? null;
    }
    if (!isWhole(view)) throw new ProblemError(problems.unavailable);
    // Not with the read, as the others: this one goes its own way, and what tells how far changes are heard of must not
    // overtake it.
    this.onRead();
  }

  async #takeTurn(): Promise<void> {
    this.#turn ??= await this.large.turn(this.owner);
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
    const fitting = Math.floor(viewBatchBytesMax / (this.#bytes / this.#loaded + 1));
    return Math.min(batchMax, Math.max(batchMin, fitting));
  }

  #count({ texts }: StoredBody): void {
    this.#loaded += 1;
    for (const text of texts) this.#bytes += text.length;
    if (this.#bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
  }
}
