/**
 * Follows requests from their answer to its last byte. Most answers are there when the handler returns, and the
 * connection takes them immediately. All others are exchanges: a client waits, can go away meanwhile, and reads as slowly
 * as it likes.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { Answer } from '../answer.ts';
import type { RequestRecord } from '../request-record.ts';
import type { RequestBody } from './body.ts';
import type { EventStreams, OpenEventStream, OpenStream } from './event-streams.ts';
import { writeAnswer, writeHead } from './reply.ts';
import type { UnsentAnswer, UnsentAnswers } from './unsent-answers.ts';

/** Who waits for an answer that is being made. */
export interface Waiting {
  /** The client went away. */
  gone(): void;
}

/** A request that is answered after the call that brought it. */
export interface Exchange {
  /** The client has disconnected. */
  readonly isAborted: boolean;
  /** Called once. */
  send(answer: Answer): void;
}

export class Exchanges {
  #active = 0;
  #onIdle: (() => void) | null = null;

  constructor(
    readonly unsent: UnsentAnswers,
    readonly streams: EventStreams,
  ) {}

  /** Ends streaming responses. */
  endStreams(): void {
    this.streams.endAll();
  }

  /** Ends them, and those that begin later. */
  closeStreams(): void {
    this.streams.close();
  }

  /** Requests under way. */
  get active(): number {
    return this.#active;
  }

  /** Resolves when no request is under way, or when the time is over. */
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

  /**
   * Answers within the call that brings the request. When the client takes all of the answer, nothing outlives that
   * call.
   */
  sendAtOnce(res: HttpResponse, record: RequestRecord, answer: Answer): void {
    // The library does not cork the later ones of many pipelined requests. Each line of a head would then be a system
    // call.
    if (goesOn(answer)) {
      this.#begin(res, record, null, null).send(answer);
      return;
    }
    res.cork(() => {
      const rest = writeAnswer(res, answer, record);
      if (rest === null) record.answered(answer);
      else this.#begin(res, record, null, null).hold(answer, rest);
    });
  }

  /**
   * Begins an exchange, within the call that brings the request.
   * @param body the handler may still wait for it. @param waiting notified when the client disconnects; null for none
   */
  begin(
    res: HttpResponse,
    record: RequestRecord,
    body: RequestBody | null,
    waiting: Waiting | null,
  ): Exchange {
    return this.#begin(res, record, body, waiting);
  }

  #begin(
    res: HttpResponse,
    record: RequestRecord,
    body: RequestBody | null,
    waiting: Waiting | null,
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

function goesOn(answer: Answer): answer is StreamAnswer {
  return answer.follow !== undefined && answer.isHead !== true;
}

class OpenExchange implements Exchange {
  #isAborted = false;
  /** Null once the response has begun, because a stream may never end. */
  #waiting: Waiting | null;
  #stream: OpenEventStream | null = null;
  /** The part of the answer that the client has not taken yet. */
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

  get isAborted(): boolean {
    return this.#isAborted;
  }

  send(answer: Answer): void {
    this.#waiting = null;
    this.res.cork(() => {
      if (goesOn(answer)) {
        this.#goOn(answer);
        return;
      }
      const rest = writeAnswer(this.res, answer, this.record);
      if (rest === null) this.#sent(answer);
      else this.hold(answer, rest);
    });
  }

  /** @param rest the whole body, of which the connection has taken a part */
  hold(answer: Answer, rest: Uint8Array): void {
    // The response must not keep its text in addition to these bytes: the text can be twice as large.
    const outcome: Answer = { ...answer, body: rest };
    this.#unsent = this.all.unsent.hold(this.res, rest, () => this.#sent(outcome));
  }

  #goOn(answer: StreamAnswer): void {
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
