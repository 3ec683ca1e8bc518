/**
 * Sends responses completely. Most responses are ready when the handler returns, and the connection takes them immediately. All
 * others are exchanges: the client waits, may disconnect meanwhile, and may read slowly.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { Answer } from '../answer.ts';
import type { RequestRecord } from '../request-record.ts';
import type { RequestBody } from './body.ts';
import type { EventStreams, OpenEventStream, OpenStream } from './event-streams.ts';
import { writeAnswer, writeHead } from './reply.ts';
import type { UnsentAnswer, UnsentAnswers } from './unsent-answers.ts';

/** The receiver of a notification if the client disconnects before the response. */
export interface Waiting {
  /** The client has disconnected. */
  gone(): void;
}

export class Exchanges {
  #active = 0;
  #onIdle: (() => void) | null = null;

  constructor(
    readonly unsent: UnsentAnswers,
    readonly streams: EventStreams,
  ) {}

  /** Number of requests in progress. */
  get active(): number {
    return this.#active;
  }

  /** Resolves when no request is in progress, or after the timeout. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Sends a response within the call that delivers the request. If the connection takes all of it, no exchange is needed. */
  sendAtOnce(res: HttpResponse, record: RequestRecord, answer: Answer): void {
    // The library does not cork later requests of a pipeline, so without this cork each header line would be a system call.
    if (isStream(answer)) {
      this.begin(res, record).send(answer);
      return;
    }
    res.cork(() => {
      const rest = writeAnswer(res, answer, record);
      if (rest === null) record.answered(answer);
      else this.begin(res, record).hold(answer, rest);
    });
  }

  /**
   * Begins an exchange. Must be called within the call that delivers the request.
   * @param body the handler may still wait for it
   * @param waiting notified when the client disconnects; null for none
   */
  begin(
    res: HttpResponse,
    record: RequestRecord,
    body: RequestBody | null = null,
    waiting: Waiting | null = null,
  ): OpenExchange {
    this.#active += 1;
    return new OpenExchange(res, record, body, waiting, this, () => this.#end());
  }

  #end(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }
}

type StreamAnswer = Answer & { readonly follow: OpenStream };

function isStream(answer: Answer): answer is StreamAnswer {
  return answer.follow !== undefined && answer.isHead !== true;
}

/** A request whose response is sent after the call that delivered the request. */
export class OpenExchange {
  #isAborted = false;
  /** Null once the response has begun, because a stream may never end. */
  #waiting: Waiting | null;
  #stream: OpenEventStream | null = null;
  /** The part of the response that the client has not read yet. */
  #unsent: UnsentAnswer | null = null;
  readonly #endings;

  constructor(
    private readonly res: HttpResponse,
    private readonly record: RequestRecord,
    private readonly body: RequestBody | null,
    waiting: Waiting | null,
    private readonly all: Pick<Exchanges, 'unsent' | 'streams'>,
    private readonly onEnd: () => void,
  ) {
    this.#waiting = waiting;
    this.#endings = all.streams.endings;
    res.onAborted(() => this.#abort());
  }

  /** The client has disconnected. */
  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** Called once. */
  send(answer: Answer): void {
    this.#waiting = null;
    this.res.cork(() => {
      if (isStream(answer)) {
        this.#beginStream(answer);
        return;
      }
      const rest = writeAnswer(this.res, answer, this.record);
      if (rest === null) this.#sent(answer);
      else this.hold(answer, rest);
    });
  }

  /** @param rest the whole body; the connection has taken a part of it */
  hold(answer: Answer, rest: Uint8Array): void {
    // Releases the body string, which can take twice the memory of these bytes.
    const outcome: Answer = { ...answer, body: rest };
    this.#unsent = this.all.unsent.hold(this.res, rest, () => this.#sent(outcome));
  }

  #beginStream(answer: StreamAnswer): void {
    writeHead(this.res, answer, this.record);
    this.record.answered(answer);
    this.#stream = this.all.streams.begin(this.res, answer.follow, this.#endings, () => this.#end());
  }

  #sent(answer: Answer): void {
    this.record.answered(answer);
    this.#end();
  }

  #abort(): void {
    this.#isAborted = true;
    this.record.aborted();
    this.#unsent?.drop();
    this.#stream?.drop();
    this.body?.abort();
    this.#waiting?.gone();
    this.#end();
  }

  #end(): void {
    this.body?.release();
    this.onEnd();
  }
}
