/**
 * Reads views and everything that they reference, breadth first, in batches
 * (docs/reference/http.md "References in an answer"). Answers that are built from many bytes take turns.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import {
  deliveryBodyBytesMax,
  deliveryReferencesMax,
  freeAnswerBytesMax,
  largeAnswersMax,
  largeAnswersOfClientMax,
  largeAnswersWaitingMax,
  viewBatchBytesMax,
} from '../../contract/limits.ts';
import { type EndOfTurn, Turns } from '../../lib/turns.ts';
import { ReferenceCounts } from '../../store/derived/reference-counts.ts';
import { bytesApart, decodeBody, type StoredBody, type ViewTarget } from '../../store/derived/stored-body.ts';
import { subjectKey, viewSubject } from '../../store/derived/subjects.ts';
import { bodyIn, placeApart, placeOfView } from '../../store/derived/views.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { Store } from '../../store/store.ts';
import type { ReadView, ReferencedViewCache } from '../cache/referenced-views.ts';
import { type LoadedView, tooManyReferences } from './render.ts';

/** Number of views of one read. While their size is unknown, few are read at a time. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;
/** Most reads of a large view that changes while it is read. */
const attemptsMax = 5;

/** A requested view, or one that a view of the answer refers to. */
class MetView {
  /** Null before it was read, when there is none, and when it came from the cache. */
  stored: Buffer | null = null;
  /** Null until it is part of the answer. */
  loaded: LoadedView | null = null;
  /** True when it came from the cache of the front. */
  wasCached = false;
  #subject: string | null = null;

  constructor(
    readonly target: ViewTarget,
    /** The length of the shortest path of references to it from a requested view. */
    readonly depth: number,
    readonly scope: EnvironmentScope,
  ) {}

  /** Key of its subject, as the changes streams announce it. */
  get subject(): string {
    this.#subject ??= subjectKey(viewSubject(this.scope, this.target));
    return this.#subject;
  }
}

/** True when the body of a view was read with it, or the view does not exist. */
function isWhole({ stored }: MetView): boolean {
  return stored === null || bytesApart(stored) === null;
}

/** The sources of the views of a response. */
export interface ViewSources {
  readonly store: Store;
  readonly largeAnswers: LargeAnswers;
  /** Views that others refer to; null: each is read from the store. */
  readonly referencedViews: ReferencedViewCache | null;
  /** Called for every read of the store, in the same turn of the event loop, or when the read is done. */
  readonly onRead: () => void;
}

/** The client whose answer it is, and what of its environment it sees. */
export interface ViewReader {
  readonly principal: object;
  readonly scope: EnvironmentScope;
  /** Views that only longer chains of references lead to are not read; null: all are. */
  readonly depth: number | null;
}

/** The views of one answer. */
export class LoadedViews {
  readonly #views = new Map<string, MetView>();
  #loaded = 0;
  #bytes = 0;

  /** Null until the answer needs more bytes than any answer may take without a turn. */
  #turn: EndOfTurn | null = null;

  constructor(
    private readonly sources: ViewSources,
    private readonly reader: ViewReader,
  ) {}

  /** Must be called when the answer is made, and when it failed. */
  release(): void {
    this.#turn?.();
    this.#turn = null;
  }

  /** Everything that was read or cached, found or missing. A cached answer depends on it. */
  get met(): readonly Pick<MetView, 'target' | 'subject'>[] {
    return [...this.#views.values()];
  }

  /** Views that others refer to, as they were read. */
  get referenced(): readonly ReadView[] {
    const read: ReadView[] = [];
    for (const { scope, target, depth, subject, stored } of this.#views.values()) {
      if (depth > 0 && stored !== null) read.push({ scope, target, subject, stored });
    }
    return read;
  }

  /** Keys of the subjects of those that came from the cache of the front. */
  get cachedSubjects(): readonly string[] {
    const cached = [...this.#views.values()].filter(({ wasCached }) => wasCached);
    return cached.map(({ subject }) => subject);
  }

  /** The hash fields that were read. */
  places(): readonly HashField[] {
    const { store } = this.sources;
    const read = [...this.#views.values()].filter(({ wasCached }) => !wasCached);
    return read.map(({ scope, target }) => placeOfView(store, scope, target));
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(target.identity)?.loaded ?? null;
  }

  /**
   * Loads views and, through their references, all views that they reach. Every view that is reached is part of the
   * answer at least once. So an answer that would break its limits is refused before all of it is read.
   * @throws StoreUnavailableError; ProblemError `answerTooLarge`, `tooManyReferences`
   */
  async load(targets: readonly ViewTarget[]): Promise<void> {
    const waiting: MetView[] = [];
    for (const target of targets) this.#meet(target, 0, waiting);
    const viewsAllowed = waiting.length + deliveryReferencesMax;
    for (let from = 0; from < waiting.length; ) {
      if (waiting.length > viewsAllowed) throw this.#tooManyReferences();
      if (this.#bytes > freeAnswerBytesMax) await this.#takeTurn();
      const batch = waiting.slice(from, from + this.#batchSize());
      from += batch.length;
      const unread = batch.filter((view) => !this.#takeCached(view, waiting));
      if (unread.length > 0) await this.#read(unread, waiting);
    }
  }

  /** @returns false when the view is not cached */
  #takeCached(view: MetView, waiting: MetView[]): boolean {
    const body = view.depth === 0 ? null : (this.sources.referencedViews?.find(view) ?? null);
    if (body === null) return false;
    view.wasCached = true;
    this.#take(view, body, waiting);
    return true;
  }

  async #read(batch: readonly MetView[], waiting: MetView[]): Promise<void> {
    await this.#readInline(batch);
    await this.#readApart(batch);
    for (const view of batch) {
      const found = bodyIn(this.sources.store, view.scope, view.target, view.stored);
      view.stored = found instanceof Promise ? await found : found;
      if (view.stored !== null) this.#take(view, decodeBody(view.stored, view.target.sourceId), waiting);
    }
  }

  async #readInline(batch: readonly MetView[]): Promise<void> {
    const { store, onRead } = this.sources;
    const reading = store.fields.read(batch.map(({ scope, target }) => placeOfView(store, scope, target)));
    onRead();
    const stored = await reading;
    batch.forEach((view, index) => {
      view.stored = stored[index] ?? null;
    });
  }

  /** Reads large views one by one, once it is known that all together are not too much. */
  async #readApart(batch: readonly MetView[]): Promise<void> {
    const large = batch.filter((view) => !isWhole(view));
    if (large.length === 0) return;
    let bytes = this.#bytes;
    for (const { stored } of large) bytes += (stored && bytesApart(stored)) ?? 0;
    if (bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
    if (bytes > freeAnswerBytesMax) await this.#takeTurn();
    for (const view of large) await this.#readBody(view);
  }

  /** Reads the body of a large view. If the view changed between the two reads, it is read again. */
  async #readBody(view: MetView): Promise<void> {
    const { store, onRead } = this.sources;
    const place = placeOfView(store, view.scope, view.target);
    for (let attempt = 0; attempt < attemptsMax && !isWhole(view); attempt += 1) {
      const [body = null] = await store.large.read([placeApart(place)]);
      view.stored = body ?? (await store.fields.read([place]))[0] ?? null;
    }
    if (!isWhole(view)) throw new ProblemError(problems.unavailable);
    // `onRead` is called after this read and not with it. The read goes over another connection, where the question
    // how far changes are received could overtake it.
    onRead();
  }

  async #takeTurn(): Promise<void> {
    this.#turn ??= await this.sources.largeAnswers.turn(this.reader.principal);
  }

  /**
   * Makes a view part of the answer. The targets of its references wait to be read, unless they were met
   * before.
   */
  #take(view: MetView, body: StoredBody, waiting: MetView[]): void {
    const { target } = view;
    view.loaded = { key: target.identity, alias: target.alias, body };
    this.#count(body);
    if (view.depth === this.reader.depth) return;
    for (const reference of body.references) {
      if (reference.target !== null) this.#meet(reference.target, view.depth + 1, waiting);
    }
  }

  #meet(target: ViewTarget, depth: number, waiting: MetView[]): void {
    if (this.#views.has(target.identity)) return;
    const view = new MetView(target, depth, this.reader.scope);
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

/**
 * A front makes a few large answers at a time, and few for each client. So their memory is bounded, and no client's answers
 * wait behind all those of another. Clients are the owners. Where too many answers of one wait, more are `unavailable`.
 */
export class LargeAnswers extends Turns {
  constructor() {
    super({
      atOnceMax: largeAnswersMax,
      ofOwnerMax: largeAnswersOfClientMax,
      waitingMax: largeAnswersWaitingMax,
      refusal: () => new ProblemError(problems.unavailable),
    });
  }
}
