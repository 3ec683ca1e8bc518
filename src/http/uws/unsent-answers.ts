/**
 * Answers that wait for their clients to read them (docs/reference/http.md "Bad input and slow clients"). Their bytes
 * in a front are bounded, and a client that takes next to nothing is cut off. Until an answer is over, uWebSockets.js
 * answers nothing else on its connection. A request that is pipelined after it ends the connection.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { slowReaderBytesMin, slowReaderMs, smallAnswerBytesMax } from '../../contract/limits.ts';
import type { ProcessMetrics } from '../../lib/process-metrics.ts';
import { SlotMap } from '../../lib/slot-map.ts';

const sweepMs = 1000;
const msPerByte = slowReaderMs / slowReaderBytesMin;

export class UnsentAnswers {
  readonly #waiting = new SlotMap<UnsentAnswer>();
  readonly #refused;
  readonly #cutOff;
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param bytesMax bound on the bytes of all answers that wait. An answer for several clients counts for each */
  constructor(
    private readonly bytesMax: number,
    metrics: ProcessMetrics,
  ) {
    this.#refused = metrics.counter(
      'millrace_http_unsent_refused_total',
      'Responses rejected because too many others were waiting for slow clients',
    );
    this.#cutOff = metrics.counter(
      'millrace_http_unsent_cut_off_total',
      'Clients disconnected because they did not read their responses',
    );
    metrics.gaugeOf(
      'millrace_http_unsent_bytes',
      'Bytes of responses that clients have not read yet',
      () => this.#bytes,
    );
  }

  /** Whether an answer may be begun. An answer may always wait alone, so one beyond the bound is not refused for ever. */
  admit(bodyBytes: number): boolean {
    if (bodyBytes <= smallAnswerBytesMax || this.#bytes === 0) return true;
    if (this.#bytes + bodyBytes <= this.bytesMax) return true;
    this.#refused.inc();
    return false;
  }

  /**
   * Sends the rest of an answer as its client takes it.
   * @param body the whole body, of which the connection has taken a part
   * @param onSent called once the connection has taken all of it, never after `drop`
   */
  hold(res: HttpResponse, body: Uint8Array, onSent: () => void): UnsentAnswer {
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return new UnsentAnswer(this, res, body, onSent);
  }

  /** @returns its slot, for `leave` */
  enter(answer: UnsentAnswer, bytes: number): number {
    this.#bytes += bytes;
    return this.#waiting.add(answer);
  }

  noteTaken(bytes: number): void {
    this.#bytes -= bytes;
  }

  noteCutOff(): void {
    this.#cutOff.inc();
  }

  leave(place: number): void {
    this.#waiting.remove(place);
  }

  #sweep(): void {
    const nowMs = performance.now();
    this.#waiting.each((answer) => answer.check(nowMs));
    if (this.#waiting.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** One answer that waits. */
export class UnsentAnswer {
  /** Its slot; null when it no longer waits. */
  #place: number | null;
  /** Bytes of the body that the connection has taken. */
  #taken: number;
  readonly #pace: SlowReaderCheck;

  constructor(
    private readonly all: UnsentAnswers,
    private readonly res: HttpResponse,
    private readonly body: Uint8Array,
    private readonly onSent: () => void,
  ) {
    this.#taken = res.getWriteOffset();
    this.#pace = new SlowReaderCheck(performance.now(), this.#taken);
    this.#place = all.enter(this, body.length - this.#taken);
    res.onWritable(() => this.#send());
  }

  /** Gives the answer up: the connection is gone. */
  drop(): void {
    if (this.#place === null) return;
    this.all.leave(this.#place);
    this.#place = null;
    this.all.noteTaken(this.body.length - this.#taken);
  }

  /**
   * Called once a second. It tries to send as well, for two reasons. The system says that a connection is writable only
   * when a third of its buffer is free. And every try puts off the 10 s after which uWebSockets.js closes a connection
   * by itself.
   */
  check(nowMs: number): void {
    this.res.cork(() => this.#send());
    if (this.#place === null) return;
    if (!this.#pace.isTooSlow(nowMs, this.#taken)) return;
    this.all.noteCutOff();
    this.res.close();
  }

  /** @returns whether the connection took all that was left */
  #send(): boolean {
    const [isTaken, isOver] = this.res.tryEnd(this.body.subarray(this.#taken), this.body.length);
    const taken = isOver ? this.body.length : this.res.getWriteOffset();
    this.all.noteTaken(taken - this.#taken);
    this.#taken = taken;
    if (isOver) {
      this.drop();
      this.onSent();
    }
    return isTaken;
  }
}

/**
 * Notices a client that takes an answer slower than it may. Reading is seen in steps, as the client's system tells of
 * freed buffers: a client that takes 16 KB in 9 s is seen to take 14 KB, then 18 KB. So what is missing at one look may
 * come at the next.
 */
export class SlowReaderCheck {
  /** How long the client is behind. A client that takes more than it must gets no credit. */
  #behindMs = 0;

  readonly #behindMsMax: number;

  /**
   * @param taken bytes of the answer that the client has taken at `atMs`
   * @param stepBytes of a step in which `taken` grows: a client may be behind by so much more
   */
  constructor(
    private atMs: number,
    private taken: number,
    stepBytes = 0,
  ) {
    this.#behindMsMax = slowReaderMs + msPerByte * stepBytes;
  }

  /** @param taken bytes that the client has taken at `nowMs`. @returns whether it is too far behind */
  isTooSlow(nowMs: number, taken: number): boolean {
    const passedMs = nowMs - this.atMs;
    this.#behindMs = Math.max(0, this.#behindMs + passedMs - msPerByte * (taken - this.taken));
    this.atMs = nowMs;
    this.taken = taken;
    return this.#behindMs >= this.#behindMsMax;
  }
}
