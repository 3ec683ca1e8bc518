/**
 * Reads views and everything that they reference, breadth first, in batches (docs/reference/http.md "References in an answer").
 * Large answers take turns.
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
import {
  bytesApart,
  decodeBody,
  ReferenceCounts,
  type StoredBody,
  type ViewTarget,
} from '../../store/derived/stored-body.ts';
import { subjectKey, viewSubject } from '../../store/derived/subjects.ts';
import { bodyIn, fieldOfLargeBody, fieldOfView } from '../../store/derived/views.ts';
import type { HashField } from '../../store/redis/field-reader.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import type { ReadView, ReferencedViewCache } from '../cache/referenced-views.ts';
import { type LoadedView, tooManyReferences } from './render.ts';

/** Views per read. Few are read at a time until their size is known. */
const batchMin = 16;
const batchFirst = 64;
const batchMax = 1024;
/** Maximum number of reads of a large view that changes while it is read. */
const attemptsMax = 5;

/** A requested view, or one that a view of the answer references. */
class VisitedView {
  /** Null before it is read, if it does not exist, and if it came from the cache. */
  stored: Buffer | null = null;
  /** Null until it is part of the answer. */
  loaded: LoadedView | null = null;
  wasCached = false;
  #subject: string | null = null;

  constructor(
    readonly target: ViewTarget,
    /** Number of references on the shortest path from a requested view. */
    readonly depth: number,
    readonly scope: EnvironmentScope,
  ) {}

  /** Key of its subject in the changes streams. */
  get subject(): string {
    this.#subject ??= subjectKey(viewSubject(this.scope, this.target));
    return this.#subject;
  }
}

/** True if the body was stored, and so read, with the view, or if the view does not exist. */
function isInline({ stored }: VisitedView): boolean {
  return stored === null || bytesApart(stored) === null;
}

/** The sources of the views of an answer. */
export interface ViewSources {
  readonly store: Store;
  readonly largeAnswers: LargeAnswers;
  /** Cache of referenced views; null to read every view from the store. */
  readonly referencedViews: ReferencedViewCache | null;
  /** Called for each read of the store, in the turn of the event loop that sends it, or after it. */
  readonly onRead: () => void;
}

/** The client of an answer, and what it may see. */
export interface ViewReader {
  readonly principal: object;
  readonly scope: EnvironmentScope;
  /** Views that are more references away are not read; null for no limit. */
  readonly depth: number | null;
}

/** The views of one answer. */
export class LoadedViews {
  readonly #views = new Map<string, VisitedView>();
  #loaded = 0;
  #bytes = 0;

  /** Null until the answer is so large that it has to take a turn. */
  #turn: EndOfTurn | null = null;

  constructor(
    private readonly sources: ViewSources,
    private readonly reader: ViewReader,
  ) {}

  /** Must be called when the answer is built or has failed. */
  release(): void {
    this.#turn?.();
    this.#turn = null;
  }

  /** All views that were read or taken from the cache, also missing ones: the dependencies of the answer. */
  get visited(): readonly Pick<VisitedView, 'target' | 'subject'>[] {
    return [...this.#views.values()];
  }

  /** Referenced views that were read from the store. */
  get referenced(): readonly ReadView[] {
    const read: ReadView[] = [];
    for (const { scope, target, depth, subject, stored } of this.#views.values()) {
      if (depth > 0 && stored !== null) read.push({ scope, target, subject, stored });
    }
    return read;
  }

  /** Subject keys of the views that came from the cache. */
  get cachedSubjects(): readonly string[] {
    const cached = [...this.#views.values()].filter(({ wasCached }) => wasCached);
    return cached.map(({ subject }) => subject);
  }

  /** The hash fields that were read. */
  places(): readonly HashField[] {
    const { store } = this.sources;
    const read = [...this.#views.values()].filter(({ wasCached }) => !wasCached);
    return read.map(({ scope, target }) => fieldOfView(store, scope, target));
  }

  get(target: ViewTarget): LoadedView | null {
    return this.#views.get(target.identity)?.loaded ?? null;
  }

  /**
   * Loads views and everything that they reference, directly or not. Each of these views is part of the answer at least once,
   * so an answer beyond the limits is refused before all of it is read.
   * @throws StoreUnavailableError; ProblemError `answerTooLarge`, `tooManyReferences`
   */
  async load(targets: readonly ViewTarget[]): Promise<void> {
    const waiting: VisitedView[] = [];
    for (const target of targets) this.#visit(target, 0, waiting);
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

  /** @returns false if the view is not cached */
  #takeCached(view: VisitedView, waiting: VisitedView[]): boolean {
    const body = view.depth === 0 ? null : (this.sources.referencedViews?.find(view) ?? null);
    if (body === null) return false;
    view.wasCached = true;
    this.#take(view, body, waiting);
    return true;
  }

  async #read(batch: readonly VisitedView[], waiting: VisitedView[]): Promise<void> {
    await this.#readInline(batch);
    await this.#readLarge(batch);
    for (const view of batch) {
      const found = bodyIn(this.sources.store, view.scope, view.target, view.stored);
      view.stored = found instanceof Promise ? await found : found;
      if (view.stored !== null) this.#take(view, decodeBody(view.stored, view.target.sourceId), waiting);
    }
  }

  async #readInline(batch: readonly VisitedView[]): Promise<void> {
    const { store, onRead } = this.sources;
    const reading = store.fields.read(batch.map(({ scope, target }) => fieldOfView(store, scope, target)));
    onRead();
    const stored = await reading;
    batch.forEach((view, index) => {
      view.stored = stored[index] ?? null;
    });
  }

  /** Reads large views one by one, after a check that all together are within the limit. */
  async #readLarge(batch: readonly VisitedView[]): Promise<void> {
    const large = batch.filter((view) => !isInline(view));
    if (large.length === 0) return;
    let bytes = this.#bytes;
    for (const { stored } of large) bytes += (stored && bytesApart(stored)) ?? 0;
    if (bytes > deliveryBodyBytesMax) throw new ProblemError(problems.answerTooLarge);
    if (bytes > freeAnswerBytesMax) await this.#takeTurn();
    for (const view of large) await this.#readBody(view);
  }

  /** Reads the body of a large view. If the view changed after its record was read, both are read again. */
  async #readBody(view: VisitedView): Promise<void> {
    const { store, onRead } = this.sources;
    const field = fieldOfView(store, view.scope, view.target);
    for (let attempt = 0; attempt < attemptsMax && !isInline(view); attempt += 1) {
      const [body = null] = await store.large.read([fieldOfLargeBody(field)]);
      view.stored = body ?? (await store.fields.read([field]))[0] ?? null;
    }
    if (!isInline(view)) throw new ProblemError(problems.unavailable);
    // This read uses another connection, on which the request for the latest change could overtake it. So `onRead` is called
    // after the read and not with it.
    onRead();
  }

  async #takeTurn(): Promise<void> {
    this.#turn ??= await this.sources.largeAnswers.turn(this.reader.principal);
  }

  /** Adds a view to the answer, and queues the targets of its references that were not visited before. */
  #take(view: VisitedView, body: StoredBody, waiting: VisitedView[]): void {
    const { target } = view;
    view.loaded = { key: target.identity, alias: target.alias, body };
    this.#count(body);
    if (view.depth === this.reader.depth) return;
    for (const reference of body.references) {
      if (reference.target !== null) this.#visit(reference.target, view.depth + 1, waiting);
    }
  }

  #visit(target: ViewTarget, depth: number, waiting: VisitedView[]): void {
    if (this.#views.has(target.identity)) return;
    const view = new VisitedView(target, depth, this.reader.scope);
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
 * Limits how many large answers a front builds at a time, in all and per client. So their memory is bounded, and no client
 * waits for all answers of another. If too many answers of a client wait, further ones fail with `unavailable`.
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
