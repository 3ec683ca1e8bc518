/**
 * Answers of delivery that clients follow (docs/reference/http.md "Live answers"). What an answer costs, it costs once for
 * all its followers: it is computed again when something that it read has changed.
 */
import { setTimeout } from 'node:timers/promises';
import type { ClientPrincipal } from '../../config/configuration.ts';
import { ProblemError, problems } from '../../contract/errors.ts';
import { StoreUnavailableError } from '../../store/redis/errors.ts';
import { SubjectIndex } from '../cache/subject-index.ts';
import type { EventStream } from '../uws/event-streams.ts';
import type { FinishedAnswer } from './finished-answer.ts';

/** What decides a live answer. */
export interface LiveKey {
  readonly principal: ClientPrincipal;
  /** The query string. */
  readonly text: string;
}

/** An answer, and the keys of everything that it read. */
export interface ReadAnswer {
  readonly answer: FinishedAnswer;
  reads(): readonly string[];
}

const pieceBytes = 16 * 1024;
const retryMs = 500;

export class LiveAnswers {
  readonly #byClient = new Map<ClientPrincipal, Map<string, LiveAnswer>>();
  readonly #computing = new Set<LiveAnswer>();
  readonly #readers = new SubjectIndex<LiveAnswer>();
  /** Bytes of each answer. */
  readonly #held = new Map<LiveAnswer, number>();
  #bytes = 0;

  /** @param bytesMax of all answers together */
  constructor(private readonly bytesMax: number) {}

  /**
   * The answer that clients of this key follow. It is forgotten unless somebody follows it in this turn of the event loop.
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

  /** Notes the bytes of an answer. One may always be there alone. @throws ProblemError `liveAnswersFull` */
  hold(live: LiveAnswer, bytes: number): void {
    const others = this.#bytes - (this.#held.get(live) ?? 0);
    if (others > 0 && others + bytes > this.bytesMax) throw new ProblemError(problems.liveAnswersFull);
    this.#held.set(live, bytes);
    this.#bytes = others + bytes;
  }

  /** @param subjects as `Progress` tells them; null when anything may have changed */
  changed(subjects: readonly string[] | null): void {
    if (subjects === null) {
      for (const ofClient of this.#byClient.values()) for (const live of ofClient.values()) live.outdated();
      return;
    }
    for (const live of this.#computing) live.heardMeanwhile(subjects);
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
    this.#bytes -= this.#held.get(live) ?? 0;
    this.#held.delete(live);
    this.#computing.delete(live);
    this.#readers.remove(live.subjects, live);
    const ofClient = this.#byClient.get(principal);
    if (ofClient?.get(text) === live) ofClient.delete(text);
    if (ofClient?.size === 0) this.#byClient.delete(principal);
  }
}

interface Current {
  readonly etag: string;
  /** The event, in pieces. */
  readonly pieces: readonly Uint8Array[];
}

export class LiveAnswer {
  /** Settles with the first computation. */
  readonly first: Promise<void>;
  readonly #followers = new Set<AnswerFollower>();
  /** Keys of what the present answer read. */
  subjects: readonly string[] = [];
  #current: Current | null = null;
  /** Subjects that changed while the answer was computed. */
  #heard = new Set<string>();
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

  get current(): Current | null {
    return this.#current;
  }

  heardMeanwhile(subjects: readonly string[]): void {
    for (const subject of subjects) this.#heard.add(subject);
  }

  outdated(): void {
    this.#isOutdated = true;
    if (this.#isComputing) return;
    // Whoever asked for it is gone before it was followed.
    if (this.#followers.size === 0) this.#forget();
    else void this.#renew();
  }

  /** The client may have gone while the answer was computed, and one that asks for its head alone follows nothing. */
  forgetUnlessFollowed(): void {
    setImmediate(() => {
      if (this.#followers.size === 0 && !this.#isForgotten) this.#forget();
    });
  }

  #forget(): void {
    this.#isForgotten = true;
    this.all.forget(this);
  }

  /** Sends the answer now, and whenever it becomes another. @returns called when the stream is over */
  follow(stream: EventStream): () => void {
    const follower = new AnswerFollower(this, stream);
    this.#followers.add(follower);
    follower.tell();
    if (this.#isForgotten) {
      // The last follower went while this one came.
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
        if (!(error instanceof StoreUnavailableError)) {
          // It has grown too large, alone or with the others, or is a mistake of ours: whoever asks again is told.
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
    this.#heard = new Set();
    this.all.began(this);
    let now = this.subjects;
    try {
      const { answer, reads } = await this.compute().then((read) => ({
        answer: read.answer,
        reads: read.reads(),
      }));
      now = reads;
      if (now.some((subject) => this.#heard.has(subject))) this.#isOutdated = true;
      this.#take(answer);
    } finally {
      this.#isComputing = false;
      this.all.computed(this, this.subjects, now);
      this.subjects = now;
    }
    if (this.#isOutdated) setImmediate(() => this.outdated());
  }

  #take({ etag, body }: FinishedAnswer): void {
    this.all.hold(this, body.length);
    if (etag === this.#current?.etag) return;
    const event = Buffer.concat([
      Buffer.from(`id: ${etag}\nevent: answer\ndata: `),
      body,
      Buffer.from('\n\n'),
    ]);
    const count = Math.ceil(event.length / pieceBytes);
    const pieces = Array.from({ length: count }, (_, at) =>
      event.subarray(at * pieceBytes, (at + 1) * pieceBytes),
    );
    this.#current = { etag, pieces };
    for (const follower of this.#followers) follower.tell();
  }
}

/** One client of a live answer. It gets the latest answer as soon as it has taken the one before. */
class AnswerFollower {
  #sent: string | null = null;
  #isSending = false;

  constructor(
    private readonly live: LiveAnswer,
    private readonly stream: EventStream,
  ) {}

  tell(): void {
    if (!this.#isSending) void this.#send();
  }

  end(): void {
    this.stream.end();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (;;) {
      const { current } = this.live;
      if (current === null || current.etag === this.#sent || this.stream.isOver) break;
      this.#sent = current.etag;
      for (const piece of current.pieces) {
        this.stream.send(piece);
        await this.stream.taken();
      }
    }
    this.#isSending = false;
  }
}
