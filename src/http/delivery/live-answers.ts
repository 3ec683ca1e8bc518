/**
 * Answers of delivery that clients follow (docs/reference/http.md "Live answers"). When something that an answer read has
 * changed, it is computed again, once for all its followers.
 */
import { setTimeout } from 'node:timers/promises';
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';
import type { FinishedAnswer } from '../cache/finished-answer.ts';
import { SubjectIndex, subjectBytes } from '../cache/subject-index.ts';
import type { EventStream } from '../uws/event-streams.ts';
import { HeldAnswer, HeldAnswers } from './held-answers.ts';

/** The key of a live response. */
export interface LiveKey {
  readonly principal: ClientPrincipal;
  /** The request, as JSON. */
  readonly text: string;
}

/** An answer, and the keys of everything that it read. */
export interface ReadAnswer {
  readonly answer: FinishedAnswer;
  reads(): readonly string[];
}

const retryMs = 500;
/** Approximate overhead of an answer in bytes, besides its event, its text and its subjects. */
const liveBytes = 1000;

export class LiveAnswers {
  readonly #byClient = new Map<ClientPrincipal, Map<string, LiveAnswer>>();
  readonly #computing = new Set<LiveAnswer>();
  readonly #readers = new SubjectIndex<LiveAnswer>();
  readonly held: HeldAnswers;

  /** @param bytesMax of all answers together */
  constructor(bytesMax: number) {
    this.held = new HeldAnswers(bytesMax);
  }

  /**
   * The live answer of this key. It is dropped unless it gets a follower in this turn of the event loop.
   * @param compute called now, and whenever something that it read has changed
   * @throws what `compute` throws when it is called now; ProblemError `liveAnswersFull`
   */
  async open(key: LiveKey, compute: () => Promise<ReadAnswer>): Promise<LiveAnswer> {
    const ofClient = this.#byClient.get(key.principal) ?? new Map<string, LiveAnswer>();
    const known = ofClient.get(key.text);
    if (known !== undefined) {
      await known.first;
      known.forgetUnlessFollowed();
      return known;
    }
    const live = new LiveAnswer(this, key, compute);
    this.#byClient.set(key.principal, ofClient.set(key.text, live));
    try {
      await live.first;
    } catch (error) {
      this.forget(live);
      throw error;
    }
    live.forgetUnlessFollowed();
    return live;
  }

  /** @param subjects from `Progress`; null when anything may have changed */
  changed(subjects: readonly string[] | null): void {
    if (subjects === null) {
      for (const ofClient of this.#byClient.values()) for (const live of ofClient.values()) live.outdated();
      return;
    }
    for (const live of this.#computing) live.recordChanged(subjects);
    for (const subject of subjects) for (const live of this.#readers.readersOf(subject)) live.outdated();
  }

  began(live: LiveAnswer): void {
    this.#computing.add(live);
  }

  computed(live: LiveAnswer, before: readonly string[], now: readonly string[]): void {
    this.#computing.delete(live);
    this.#readers.remove(before, live);
    this.#readers.add(now, live);
  }

  forget(live: LiveAnswer): void {
    const { principal, text } = live.key;
    if (live.current !== null) this.held.release(live.current);
    this.#computing.delete(live);
    this.#readers.remove(live.subjects, live);
    const ofClient = this.#byClient.get(principal);
    if (ofClient?.get(text) === live) ofClient.delete(text);
    if (ofClient?.size === 0) this.#byClient.delete(principal);
  }
}

export class LiveAnswer {
  /** Settles with the first computation. */
  readonly first: Promise<void>;
  readonly #followers = new Set<AnswerFollower>();
  /** Keys of what the current answer read. */
  subjects: readonly string[] = [];
  #current: HeldAnswer | null = null;
  /** Subjects that have changed since the last computation began. */
  #received = new Set<string>();
  #isOutdated = false;
  #isComputing = false;
  #isForgotten = false;

  constructor(
    private readonly all: LiveAnswers,
    readonly key: LiveKey,
    private readonly compute: () => Promise<ReadAnswer>,
  ) {
    this.first = this.#computeOnce();
  }

  get current(): HeldAnswer | null {
    return this.#current;
  }

  recordChanged(subjects: readonly string[]): void {
    for (const subject of subjects) this.#received.add(subject);
  }

  outdated(): void {
    this.#isOutdated = true;
    if (this.#isComputing) return;
    // The client disconnected before it followed the response.
    if (this.#followers.size === 0) this.#forget();
    else void this.#renew();
  }

  /** The client may have disconnected meanwhile, and a HEAD request does not follow. */
  forgetUnlessFollowed(): void {
    setImmediate(() => {
      if (this.#followers.size === 0 && !this.#isForgotten) this.#forget();
    });
  }

  #forget(): void {
    this.#isForgotten = true;
    this.all.forget(this);
  }

  /** Sends the answer now and whenever it changes. @returns function to call when the stream is over */
  follow(stream: EventStream): () => void {
    const follower = new AnswerFollower(this, this.all.held, stream);
    this.#followers.add(follower);
    follower.notify();
    if (this.#isForgotten) {
      // The last follower left while this one was joining.
      this.#isForgotten = false;
      this.outdated();
    }
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size === 0) this.#forget();
    };
  }

  async #renew(): Promise<void> {
    while (this.#isOutdated && !this.#isForgotten) {
      try {
        await this.#computeOnce();
      } catch (error) {
        if (!isTemporary(error)) {
          // The answer is too large, alone or with the others, or there is a bug: the client gets the error when it reconnects.
          for (const follower of [...this.#followers]) follower.end();
          return;
        }
        this.#isOutdated = true;
        await setTimeout(retryMs);
      }
    }
  }

  async #computeOnce(): Promise<void> {
    this.#isComputing = true;
    this.#isOutdated = false;
    this.#received = new Set();
    this.all.began(this);
    let now = this.subjects;
    try {
      const read = await this.compute();
      now = read.reads();
      if (now.some((subject) => this.#received.has(subject))) this.#isOutdated = true;
      this.#take(read.answer, now);
    } finally {
      this.#isComputing = false;
      this.all.computed(this, this.subjects, now);
      this.subjects = now;
      // The last follower left during the computation.
      if (this.#isForgotten) this.all.forget(this);
    }
    if (this.#isOutdated) setImmediate(() => this.outdated());
  }

  #take({ etag, body }: FinishedAnswer, subjects: readonly string[]): void {
    if (etag === this.#current?.etag && this.#current.isPresent) return;
    const event = Buffer.concat([
      Buffer.from(`id: ${etag}\nevent: answer\ndata: `),
      body,
      Buffer.from('\n\n'),
    ]);
    const { principal, text } = this.key;
    const bytes = event.length + text.length * 2 + subjects.length * subjectBytes + liveBytes;
    const next = new HeldAnswer(principal.tenant.alias, etag, event, bytes);
    this.all.held.hold(next, this.#current);
    this.#current = next;
    for (const follower of this.#followers) follower.notify();
  }
}

function isTemporary(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    (error instanceof ProblemError && error.problem === problems.unavailable)
  );
}

/** One client of a live answer. It gets the latest version as soon as it has received the previous one. */
class AnswerFollower {
  #sent: string | null = null;
  #isSending = false;

  constructor(
    private readonly live: LiveAnswer,
    private readonly held: HeldAnswers,
    private readonly stream: EventStream,
  ) {}

  notify(): void {
    if (!this.#isSending) void this.#send();
  }

  end(): void {
    this.stream.end();
  }

  cutOff(): void {
    this.stream.cutOff();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (;;) {
      const { current } = this.live;
      if (current === null || current.etag === this.#sent || this.stream.isOver) break;
      this.#sent = current.etag;
      await this.#take(current);
    }
    this.#isSending = false;
  }

  async #take(answer: HeldAnswer): Promise<void> {
    answer.takers.add(this);
    await this.stream.sendLong(answer.event);
    this.held.taken(answer, this);
  }
}
