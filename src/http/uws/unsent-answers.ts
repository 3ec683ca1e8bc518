/**
 * Responses that wait for their clients to read them (docs/reference/http.md "Bad input and slow clients"). Their total bytes
 * are bounded, and a client that reads almost nothing is disconnected. Until a response is complete, uWebSockets.js handles no
 * other request on its connection, and a pipelined one closes it.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { slowReaderBytesMin, slowReaderMs, smallAnswerBytesMax } from '../../contract/limits.ts';
import type { ProcessMetrics } from '../../lib/process-metrics.ts';
import { SweptSlots } from '../../lib/slot-map.ts';

const sweepMs = 1000;
const msPerByte = slowReaderMs / slowReaderBytesMin;

export class UnsentAnswers {
  readonly #waiting = new SweptSlots<UnsentAnswer>(sweepMs, (answer, nowMs) => answer.check(nowMs));
  readonly #refused;
  readonly #cutOff;
  #bytes = 0;

  /** @param bytesMax bound on the bytes of all waiting responses. A response shared by several clients counts for each */
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

  /**
   * Whether a response may be sent. A single response is always allowed, so that one beyond the bound is not refused forever.
   */
  admit(bodyBytes: number): boolean {
    if (bodyBytes <= smallAnswerBytesMax || this.#bytes === 0) return true;
    if (this.#bytes + bodyBytes <= this.bytesMax) return true;
    this.#refused.inc();
    return false;
  }

  /**
   * Sends the rest of a response as fast as its client reads.
   * @param body the whole body; the connection has taken a part of it
   * @param onSent called once the connection has taken all of it, never after `drop`
   */
  hold(res: HttpResponse, body: Uint8Array, onSent: () => void): UnsentAnswer {
    return new UnsentAnswer(this, res, body, onSent);
  }

  /** @returns its slot, for `leave` */
  enter(answer: UnsentAnswer, bytes: number): number {
    this.#bytes += bytes;
    return this.#waiting.add(answer);
  }

  countSent(bytes: number): void {
    this.#bytes -= bytes;
  }

  countCutOff(): void {
    this.#cutOff.inc();
  }

  leave(slot: number): void {
    this.#waiting.remove(slot);
  }
}

/** A response that waits for its client. */
export class UnsentAnswer {
  /** Null when it no longer waits. */
  #slot: number | null;
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
    this.#slot = all.enter(this, body.length - this.#taken);
    res.onWritable(() => this.#send());
  }

  /** Must be called when the connection is closed. */
  drop(): void {
    if (this.#slot === null) return;
    this.all.leave(this.#slot);
    this.#slot = null;
    this.all.countSent(this.body.length - this.#taken);
  }

  /**
   * Called once a second. It also tries to send, for two reasons: the operating system reports a connection as writable only
   * when a third of its buffer is free, and every attempt restarts the 10 s after which uWebSockets.js closes the connection.
   */
  check(nowMs: number): void {
    this.res.cork(() => this.#send());
    if (this.#slot === null) return;
    if (!this.#pace.isTooSlow(nowMs, this.#taken)) return;
    this.all.countCutOff();
    this.res.close();
  }

  /** @returns whether the connection took all remaining bytes */
  #send(): boolean {
    const [isTaken, isOver] = this.res.tryEnd(this.body.subarray(this.#taken), this.body.length);
    const taken = isOver ? this.body.length : this.res.getWriteOffset();
    this.all.countSent(taken - this.#taken);
    this.#taken = taken;
    if (isOver) {
      this.drop();
      this.onSent();
    }
    return isTaken;
  }
}

/**
 * Detects a client that reads a response too slowly. Progress is visible only in steps, as the client's operating system frees
 * buffers: a client that reads 16 KB in 9 s appears to read 14 KB, then 18 KB. So a deficit at one check may be made up at the
 * next.
 */
export class SlowReaderCheck {
  /** How far the client is behind, in ms. Reading faster than required gives no credit. */
  #behindMs = 0;

  readonly #behindMsMax: number;

  /**
   * @param taken bytes that the client had read at `atMs`
   * @param stepBytes size of the steps in which `taken` grows, which is added to the allowed deficit
   */
  constructor(
    private atMs: number,
    private taken: number,
    stepBytes = 0,
  ) {
    this.#behindMsMax = slowReaderMs + msPerByte * stepBytes;
  }

  /**
   * @param taken bytes that the client has read at `nowMs`
   * @returns whether it is too far behind
   */
  isTooSlow(nowMs: number, taken: number): boolean {
    const passedMs = nowMs - this.atMs;
    this.#behindMs = Math.max(0, this.#behindMs + passedMs - msPerByte * (taken - this.taken));
    this.atMs = nowMs;
    this.taken = taken;
    return this.#behindMs >= this.#behindMsMax;
  }
}
