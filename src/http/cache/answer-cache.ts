/**
 * Caches the answers of delivery and of queries, and the views of rows, until something that they read changes. Concurrent
 * requests for an answer share one computation. Pages and the views of rows are cached on the first request, answers to queries
 * on the second, because most queries are never repeated.
 *
 * A cached answer lists its subjects: the claims, views and missing views that it shows, or the items of its indexes. The
 * changes streams name the subjects that changed, and every answer that read one of them is evicted. So a cached answer is at
 * least as new as the last change that this front has received.
 */
import type { ClientPrincipal } from '../../config/configuration.ts';
import { assert } from '../../lib/assert.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { digestNumber } from '../../store/codec/digest.ts';
import type { FinishedAnswer, Keepable } from './finished-answer.ts';
import { ReceivedChanges } from './received-changes.ts';
import { SubjectIndex, subjectBytes } from './subject-index.ts';

/** The interface that was called. It is part of the key, because the same text can be sent to each of them. */
export type AnswerKind = 'delivery' | 'deliveryV1' | 'query' | 'rowViews';

/** Everything that determines an answer. */
export interface AnswerKey {
  readonly kind: AnswerKind;
  readonly principal: ClientPrincipal;
  /** The query string of a delivery; path and body of a query; aliases and entity of a row. */
  readonly text: string;
}

export interface ComputedAnswer<A extends Keepable = FinishedAnswer> {
  readonly answer: A;
  /** Keys of the subjects that were read. Null if the answer depends on more than subjects: it is not cached. */
  reads(): readonly string[] | null;
}

/** An answer that is being computed. */
interface Flight<A> {
  readonly kind: 'flight';
  /** From `ReceivedChanges.begin`. */
  readonly beganAt: number;
  readonly settled: Promise<Settled<A>>;
}

interface Settled<A> {
  readonly answer: A;
  /** This front knows of no change, since the computation began, to anything that the answer read. */
  readonly isCurrent: boolean;
}

interface Kept<A> {
  readonly kind: 'kept';
  readonly key: AnswerKey;
  readonly answer: A;
  readonly subjects: readonly string[];
  readonly bytes: number;
  /** Value of `#keptTotal` when this one last became the most recently used. */
  movedAt: number;
}

/** The answers of one client, by `AnswerKey.text`. */
type Answers<A> = Map<string, Kept<A> | Flight<A>>;

function noAnswers<A>(): Readonly<Record<AnswerKind, Map<ClientPrincipal, Answers<A>>>> {
  return { delivery: new Map(), deliveryV1: new Map(), query: new Map(), rowViews: new Map() };
}

/** Approximate overhead of a cached answer in bytes, besides its body and its text. */
const keptBytes = 800;
/** Largest share of the cache that one answer may take. */
const largestShare = 1 / 8;
/**
 * Moving an answer in the LRU order costs more than finding it. So it is moved only after additions of this share of the cache.
 */
const recentShare = 1 / 8;

export class AnswerCache<A extends Keepable = FinishedAnswer> {
  readonly #received = new ReceivedChanges();
  readonly #seenOnce = new SeenOnceFilter();
  readonly #counts = { hits: 0, misses: 0, evicted: 0, invalidated: 0 };
  #answers = noAnswers<A>();
  #readers = new SubjectIndex<Kept<A>>();
  #kept: BoundedCache<Kept<A>, Kept<A>>;
  #keptTotal = 0;

  /** @param bytesMax bound on the memory of all answers; 0 turns the cache off */
  constructor(private readonly bytesMax: number) {
    this.#kept = this.#nothingKept();
  }

  get stats(): Readonly<Record<'entries' | 'bytes' | 'hits' | 'misses' | 'evicted' | 'invalidated', number>> {
    return { ...this.#counts, entries: this.#kept.size, bytes: this.#kept.weight };
  }

  get isOn(): boolean {
    return this.bytesMax > 0;
  }

  /** Returns the cached answer, or null. */
  find(key: AnswerKey): A | null {
    const kept = this.#at(key);
    if (kept?.kind !== 'kept') {
      this.#counts.misses += 1;
      return null;
    }
    this.#counts.hits += 1;
    if (this.#keptTotal - kept.movedAt > this.#kept.size * recentShare) this.#markRecentlyUsed(kept);
    return kept.answer;
  }

  /**
   * Returns the answer that is cached or being computed, or computes a new one and caches it if a repeated request is likely.
   * The answer is at least as new as the last change that this front had received at the call.
   * @throws what `compute` throws
   */
  async answerTo(key: AnswerKey, compute: () => Promise<ComputedAnswer<A>>): Promise<A> {
    if (key.kind === 'query' && !(this.isOn && this.#seenOnce.add(key.text))) {
      return (await compute()).answer;
    }
    const askedAt = this.#received.count;
    for (;;) {
      const there = this.#at(key) ?? this.#begin(key, compute);
      if (there.kind === 'kept') return there.answer;
      const { answer, isCurrent } = await there.settled;
      // A computation that began earlier may have read something before a change that this front received before this call.
      if (isCurrent || there.beganAt >= askedAt) return answer;
    }
  }

  /**
   * Returns the cached answers, and computes all missing ones in one call. They are cached too, unless something that they read
   * has changed meanwhile.
   * @param compute receives the indexes of the missing keys; returns one answer for each
   * @throws what `compute` throws
   */
  async answersTo(
    keys: readonly AnswerKey[],
    compute: (missing: readonly number[]) => Promise<readonly ComputedAnswer<A>[]>,
  ): Promise<A[]> {
    const found = keys.map((key) => this.find(key));
    const missing = found.flatMap((answer, at) => (answer === null ? [at] : []));
    const computed = missing.length === 0 ? [] : await this.#computeTogether(keys, missing, compute);
    let next = 0;
    return found.map((answer) => {
      const given = answer ?? computed[next++]?.answer;
      assert(given !== undefined, 'each missing answer was computed');
      return given;
    });
  }

  async #computeTogether(
    keys: readonly AnswerKey[],
    missing: readonly number[],
    compute: (missing: readonly number[]) => Promise<readonly ComputedAnswer<A>[]>,
  ): Promise<readonly ComputedAnswer<A>[]> {
    const beganAt = this.#received.begin();
    try {
      const computed = await compute(missing);
      missing.forEach((at, index) => {
        const [key, one] = [keys[at], computed[index]];
        // Another call may have cached it meanwhile.
        if (key !== undefined && one !== undefined && this.#at(key) === undefined) {
          this.#keepCurrent(key, beganAt, one);
        }
      });
      return computed;
    } finally {
      this.#received.end();
    }
  }

  /** Counts the bytes of a compressed form that was added to an answer. The answer may have been evicted meanwhile. */
  updateSize(key: AnswerKey, answer: A, bytes: number): void {
    const kept = this.#at(key);
    if (kept?.kind !== 'kept' || kept.answer !== answer) return;
    this.#kept.delete(kept);
    this.#keep({ ...kept, bytes: kept.bytes + bytes });
  }

  /** Evicts the answers that read one of the subjects. @param subjects from `Progress`; null when anything may have changed */
  invalidate(subjects: readonly string[] | null): void {
    if (subjects === null) {
      this.empty();
      return;
    }
    this.#received.add(subjects);
    for (const subject of subjects) {
      for (const kept of this.#readers.readersOf(subject)) {
        this.#kept.delete(kept);
        this.#counts.invalidated += 1;
      }
    }
  }

  /** Evicts everything. An answer that is being computed will not be cached. */
  empty(): void {
    this.#received.add(null);
    this.#answers = noAnswers<A>();
    this.#readers = new SubjectIndex<Kept<A>>();
    this.#kept = this.#nothingKept();
  }

  #begin(key: AnswerKey, compute: () => Promise<ComputedAnswer<A>>): Flight<A> {
    const beganAt = this.#received.begin();
    // `#settle` awaits the computation, so it cannot remove the flight before it is added here.
    const flight = { kind: 'flight', beganAt, settled: this.#settle(key, beganAt, compute) } as const;
    this.#put(key, flight);
    return flight;
  }

  async #settle(
    key: AnswerKey,
    beganAt: number,
    compute: () => Promise<ComputedAnswer<A>>,
  ): Promise<Settled<A>> {
    try {
      const computed = await compute();
      return { answer: computed.answer, isCurrent: this.#keepCurrent(key, beganAt, computed) };
    } finally {
      this.#received.end();
      const there = this.#at(key);
      if (there?.kind === 'flight' && there.beganAt === beganAt) this.#remove(key);
    }
  }

  /** Caches an answer, unless something that it read has changed. @returns whether nothing has */
  #keepCurrent(key: AnswerKey, beganAt: number, computed: ComputedAnswer<A>): boolean {
    const isQuiet = this.#received.count === beganAt;
    // Listing what was read is a large part of the cost of an answer, so it is skipped when the cache is off and nothing
    // changed.
    if (isQuiet && !this.isOn) return true;
    const subjects = computed.reads();
    if (subjects === null) return isQuiet;
    if (this.#received.hasChangedSince(beganAt, subjects)) return false;
    const { answer } = computed;
    const bytes = answer.bytes + key.text.length * 2 + keptBytes + subjects.length * subjectBytes;
    this.#keep({ kind: 'kept', key, answer, subjects, bytes, movedAt: this.#keptTotal });
    return true;
  }

  #markRecentlyUsed(kept: Kept<A>): void {
    this.#kept.get(kept);
    kept.movedAt = this.#keptTotal;
  }

  #keep(kept: Kept<A>): void {
    if (kept.bytes > this.bytesMax * largestShare) return;
    const { size } = this.#kept;
    this.#keptTotal += 1;
    this.#put(kept.key, kept);
    this.#readers.add(kept.subjects, kept);
    this.#kept.set(kept, kept);
    this.#counts.evicted += size + 1 - this.#kept.size;
  }

  #nothingKept(): BoundedCache<Kept<A>, Kept<A>> {
    return new BoundedCache({
      entriesMax: Number.POSITIVE_INFINITY,
      weightMax: this.bytesMax,
      weigh: ({ bytes }) => bytes,
      onRemove: (kept) => {
        this.#remove(kept.key);
        this.#readers.remove(kept.subjects, kept);
      },
    });
  }

  #at({ kind, principal, text }: AnswerKey): Kept<A> | Flight<A> | undefined {
    return this.#answers[kind].get(principal)?.get(text);
  }

  #put({ kind, principal, text }: AnswerKey, answer: Kept<A> | Flight<A>): void {
    const ofClient = this.#answers[kind].get(principal);
    if (ofClient === undefined) this.#answers[kind].set(principal, new Map([[text, answer]]));
    else ofClient.set(text, answer);
  }

  #remove({ kind, principal, text }: AnswerKey): void {
    this.#answers[kind].get(principal)?.delete(text);
  }
}

/** A key is overwritten after about this many other keys. */
const slots = 32_768;

/**
 * Recently requested keys. Caching an answer that is never requested again is expensive: the garbage collector copies it twice.
 */
export class SeenOnceFilter {
  /** Digests, each in the slot of its remainder. If two texts have the same digest, an answer is only cached too early. */
  readonly #requested = new Uint32Array(slots);

  /** Records a requested key. @returns true if it was requested recently */
  add(text: string): boolean {
    const digest = digestNumber(text);
    const slot = digest % slots;
    const isKnown = this.#requested[slot] === digest;
    this.#requested[slot] = digest;
    return isKnown;
  }
}
