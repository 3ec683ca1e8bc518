/**
 * Requests from their answer to its last byte. Most answers are there when the handler returns and taken by the connection
 * at once; all others are exchanges: someone waits, can go away meanwhile, and reads as slowly as it likes.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { Answer } from '../answer.ts';
import type { RequestRecord } from '../operations/request-record.ts';
import type { RequestBody } from './body.ts';
import { writeAnswer } from './reply.ts';
import type { UnsentAnswer, UnsentAnswers } from './unsent-answers.ts';

/** A request that is answered later than it came. */
export interface Exchange {
  /** The client went away: there is nobody to answer. */
  readonly isAborted: boolean;
  /** Called once. */
  send(answer: Answer): void;
}

export class Exchanges {
  #active = 0;
  #onIdle: (() => void) | null = null;

  constructor(private readonly unsent: UnsentAnswers) {}

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

  /** Within the call that brings the request. When the client takes all of it, nothing outlives that call. */
  sendAtOnce(res: HttpResponse, record: RequestRecord, answer: Answer): void {
    // Of many pipelined requests the later ones are not corked any more: each line of a head would be a call of the system.
    res.cork(() => {
      const rest = writeAnswer(res, answer);
      if (rest === null) record.answered(answer);
      else this.#begin(res, record, null).hold(answer, rest);
    });
  }

  /** Within the call that brings the request. @param body that the handler may still be waiting for */
  begin(res: HttpResponse, record: RequestRecord, body: RequestBody | null): Exchange {
    return this.#begin(res, record, body);
  }

  #begin(res: HttpResponse, record: RequestRecord, body: RequestBody | null): OpenExchange {
    this.#active += 1;
    return new OpenExchange(res, record, body, this.unsent, () => this.#end());
  }

  #end(): void {
    this.#active -= 1;
    if (this.#active === 0) this.#onIdle?.();
  }
}

class OpenExchange implements Exchange {
  #isAborted = false;
  /** What the client has not taken yet. */
  #unsent: UnsentAnswer | null = null;

  constructor(
    private readonly res: HttpResponse,
    private readonly record: RequestRecord,
    private readonly body: RequestBody | null,
    private readonly all: UnsentAnswers,
    private readonly onEnd: () => void,
  ) {
    res.onAborted(() => this.#abort());
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  send(answer: Answer): void {
    this.res.cork(() => {
      const rest = writeAnswer(this.res, answer);
      if (rest === null) this.#sent(answer);
      else this.hold(answer, rest);
    });
  }

  /** @param rest the body, of which the connection has taken a part */
  hold(answer: Answer, rest: Uint8Array): void {
    this.#unsent = this.all.hold(this.res, rest, () => this.#sent(answer));
  }

  #sent(answer: Answer): void {
    this.record.answered(answer);
    this.#end();
  }

  #abort(): void {
    this.#isAborted = true;
    this.record.aborted();
    this.#unsent?.drop();
    this.body?.abort();
    this.#end();
  }

  #end(): void {
    this.body?.release();
    this.onEnd();
  }
}
