/**
 * Reads views and everything that they reference, breadth first, in batches
 * (docs/reference/http.md "References in an answer").
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import {
  deliveryBodyBytesMax,
  deliveryReferencesMax,
  freeAnswerBytesMax,
  viewBatchBytesMax,
} from '../../contract/limits.ts';
import type { EndOfTurn } from '../../lib/turns.ts';
import { ReferenceCounts } from '../../store/derived/reference-counts.ts';
import type { StoredBody, ViewTarget } from '../../store/derived/stored-body.ts';
import { bytesApart, decodeBody } from '../../store/derived/stored-body.ts';
import { bodyIn, placeApart, placeOfView } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { LargeAnswers } from './large-answers.ts';
import { type LoadedView, tooManyReferences } from './render.ts';

/** Number of views of one read. While their size is unknown, few are read at a time. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;
/** Most reads of a large view that changes while it is read. */
const attemptsMax = 5;

const nobody = () => {};

/** A view that was asked for, or that a view of the answer refers to. */
interface MetView {
  readonly target: ViewTarget;
  /** Least number of references that lead to it from a view that was asked for. */
  readonly depth: number;
  /** Null before it was read, and when there is none. */
  stored: Buffer | null;
  /** Null until it is part of the answer. */
  loaded: LoadedView | null;
}

/** True when a view that was read came with its body, and when there is no such view. */
function isWhole({ stored }: MetView): boolean {
  return stored === null || bytesApart(stored) === null;
}

/** The views of one answer. */
export class LoadedViews {
  readonly #views = new Map<string, MetView>();
  #loaded = 0;
  #bytes = 0;

  /** Null until the answer needs more bytes than any answer may take without a turn. */
  #turn: EndOfTurn | null = null;

  /**
   * @param owner the client whose answer it is
   * @param depth views that only longer chains of references lead to are not read; null: all are
   * @param onRead called for every read of the store, in the same turn of the event loop, or when the read is done
   */
  constructor(
    private readonly large: LargeAnswers,
    private readonly owner: object,
    private readonly depth: number | null,
    private readonly onRead: () => void = nobody,
  ) {}

  /** Must be called when the answer is made, and when it failed. */
  release(): void {
    this.#turn?.();
    this.#turn = null;
  }

  /** Everything that was read, found or missing. A cached answer depends on it. */
  get met(): readonly Pick<MetView, 'target'>[] {
    return [...this.#views.values()];
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(target.identity)?.loaded ?? null;
  }

  /**
   * Loads views and, through their references, all views that they reach. Every view that is reached is part of the
   * answer at least once. So an answer that would break its limits is refused before all of it is read.
   * @throws StoreUnavailableError; ProblemError `answerTooLarge`, `tooManyReferences`
   */
  async load(store: Store, scope: EnvironmentScope, targets: readonly ViewTarget[]): Promise<void> {
    const waiting: MetView[] = [];
    for (const target of targets) this.#meet(target, 0, waiting);
    const viewsAllowed = waiting.length + deliveryReferencesMax;
    for (let from = 0; from < waiting.length; ) {
      if (waiting.length > viewsAllowed) throw this.#tooManyReferences();
      const batch = waiting.slice(from, from + this.#batchSize());
      from += batch.length;
      await this.#readInline(store, scope, batch);
      await this.#readApart(store, scope, batch);
      for (const view of batch) {
        const body = bodyIn(store, scope, view.target, view.stored);
        this.#take(view, body instanceof Promise ? await body : body, waiting);
      }
    }
  }

  async #readInline(store: Store, scope: EnvironmentScope, batch: readonly MetView[]): Promise<void> {
    if (this.#bytes > freeAnswerBytesMax) await this.#takeTurn();
    const reading = store.fields.read(batch.map(({ target }) => placeOfView(store, scope, target)));
    this.onRead();
    const stored = await reading;
    batch.forEach((view, index) => {
      view.stored = stored[index] ?? null;
    });
  }

  /** Reads large views one by one, once it is known that all together are not too much. */
  async #readApart(store: Store, scope: EnvironmentScope, batch: readonly MetView[]): Promise<void> {
    const large = batch.filter((view) => !isWhole(view));
    if (large.length === 0) return;
    let bytes = this.#bytes;
    for (const { stored } of large) bytes += (stored && bytesApart(stored)) ?? 0;
    if (bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
    if (bytes > freeAnswerBytesMax) await this.#takeTurn();
    for (const view of large) await this.#readBody(store, placeOfView(store, scope, view.target), view);
  }

  /** Reads the body of a large view. If the view changed between the two reads, it is read again. */
  async #readBody(store: Store, place: HashField, view: MetView): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax && !isWhole(view); attempt += 1) {
      const [body = null] = await store.large.read([placeApart(place)]);
      view.stored = body ?? (await store.fields.read([place]))[0] ?? null;
    }
    if (!isWhole(view)) throw new ProblemError(problems.unavailable);
    // `onRead` is called after this read and not with it. The read goes over another connection, where the question
    // how far changes are received could overtake it.
    this.onRead();
  }

  async #takeTurn(): Promise<void> {
    this.#turn ??= await this.large.turn(this.owner);
  }

  /**
   * Makes a view that was read part of the answer. The targets of its references wait to be read, unless they were met
   * before.
   */
  #take(view: MetView, stored: Buffer | null, waiting: MetView[]): void {
    if (stored === null) return;
    const { target } = view;
    const body = decodeBody(stored, target.sourceId);
    view.loaded = { key: target.identity, alias: target.alias, body };
    this.#count(body);
    if (view.depth === this.depth) return;
    for (const reference of body.references) {
      if (reference.target !== null) this.#meet(reference.target, view.depth + 1, waiting);
    }
  }

  #meet(target: ViewTarget, depth: number, waiting: MetView[]): void {
    if (this.#views.has(target.identity)) return;
    const view: MetView = { target, depth, stored: null, loaded: null };
    this.#views.set(target.identity, view);
    waiting.push(view);
  }

  #tooManyReferences(): ProblemError {
    const counts = new ReferenceCounts();
    for (const { loaded } of this.#views.values()) {
      if (loaded !== null) counts.add(loaded.alias, loaded.body.references);
    }
    return tooManyReferences(counts);
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
